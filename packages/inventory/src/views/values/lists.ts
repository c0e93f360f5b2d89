/** The texts of a list. The list itself where it has nothing else: not to be changed. */
export function toTextList(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  const list = value as readonly unknown[];
  return isTextList(list) ? list : list.filter(isText);
}

/** Has the list anything in it? */
export function isFilled(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

/** The first of a list; undefined where there is none. */
export function firstOf(value: unknown): unknown {
  return Array.isArray(value) ? (value as unknown[])[0] : undefined;
}

/** The list, empty where it is none. */
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
