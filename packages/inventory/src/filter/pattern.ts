/** Tests a text. */
export type Pattern = (text: string) => boolean;

/** @returns the pattern, or what was expected in its place */
export function createPattern(
  source: string,
  ignoreCase: boolean,
): Pattern | string {
  try {
    const regex = new RegExp(source, ignoreCase ? "i" : "");
    return (text) => regex.test(text);
  } catch {
    return "a regular expression";
  }
}
