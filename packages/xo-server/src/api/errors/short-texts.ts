/** Maximum length of a text in an error, in characters. */
const LONGEST = 4_096;
/** Maximum nesting of values in an error. */
const DEEPEST = 8;

/**
 * Truncates a text. An error may repeat megabytes that the client has sent, which
 * it would not read.
 */
export function shortened(text: string): string {
  if (text.length <= LONGEST) return text;
  return `${text.slice(0, LONGEST)}... (${text.length} characters)`;
}

/** A copy in which all texts are short, or `value` itself if they already are. */
export function withShortTexts(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return shortened(value);
  if (typeof value !== "object" || value === null || depth > DEEPEST)
    return value;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => withShortTexts(item, depth + 1));
    return items.every((item, i) => item === value[i]) ? value : items;
  }
  const entries = Object.entries(value).map(
    ([key, member]) => [key, withShortTexts(member, depth + 1)] as const,
  );
  return entries.every(([key, member]) => member === Reflect.get(value, key))
    ? value
    : Object.fromEntries(entries);
}
