/** A field that should be a text, or nothing. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
