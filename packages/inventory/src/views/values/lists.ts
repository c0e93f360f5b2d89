/**
 * The strings of a list; the list itself if it contains nothing else: must not
 * be changed.
 */
export function toTextList(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  const list = value as readonly unknown[];
  return isTextList(list) ? list : list.filter(isText);
}

/** Whether the value is a non-empty list. */
export function isFilled(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

/** The first element; undefined for anything but a list. */
export function firstOf(value: unknown): unknown {
  return Array.isArray(value) ? (value as unknown[])[0] : undefined;
}

/** The list; [] for anything else. */
export function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

function isTextList(list: readonly unknown[]): list is readonly string[] {
  for (const item of list) if (typeof item !== "string") return false;
  return true;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
