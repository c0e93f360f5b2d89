/** The string, or "" for anything else, such as a name that an older pool lacks. */
export function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The string; undefined for "" and for anything else. */
export function toNonEmptyText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** False for anything but true, such as a flag that an older pool lacks. */
export function toFlag(value: unknown): boolean {
  return value === true;
}

/** A flag in a map of strings, such as other_config. */
export function hasFlag(map: unknown, key: string): boolean {
  return memberOf(map, key) === "true";
}

/** An own member of a map; undefined for anything but a map. */
export function memberOf(map: unknown, key: string): unknown {
  if (typeof map !== "object" || map === null) return undefined;
  return Object.hasOwn(map, key)
    ? (map as Readonly<Record<string, unknown>>)[key]
    : undefined;
}
