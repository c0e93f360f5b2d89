/** The field if it is a string, else undefined. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
