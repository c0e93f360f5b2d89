/** Maximum length of an id: two UUIDs and a hyphen. */
const LONGEST_ID = 80;

/** Maximum number of values that are searched; further ones are not found. */
const MAX_VALUES = 500;

/** Maximum depth at which parameters name objects, as in `VDIs[0].SR`. */
const DEEPEST = 3;

/** Texts in parameters that may be ids. */
export function namedIds(params: unknown): string[] {
  const ids: string[] = [];
  let left = MAX_VALUES;
  const visit = (value: unknown, depth: number): void => {
    if (left-- <= 0) return;
    if (typeof value === "string") {
      if (value.length <= LONGEST_ID) ids.push(value);
    } else if (typeof value === "object" && value !== null && depth < DEEPEST)
      for (const key in value) {
        if (left <= 0) return;
        visit(Reflect.get(value, key), depth + 1);
      }
  };
  visit(params, 0);
  return ids;
}
