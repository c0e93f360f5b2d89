/**
 * Lines in the order of their elements. Each element shows every n-th line, so that a line that is
 * scrolled into view reuses the one of a line that is scrolled out of it.
 * @param lines consecutive, in their order
 * @param before the result before
 * @param keepsElements elements are not moved in the document, which would style and lay them out
 *   again: while the user scrolls. Otherwise they are in the order of the lines, as screen readers
 *   read them.
 */
export function inElementOrder<T extends { readonly line: number }>(
  lines: readonly T[],
  before: readonly T[] | undefined,
  keepsElements: boolean,
): readonly T[] {
  const count = lines.length;
  if (!keepsElements || before?.length !== count) return lines;
  const byElement = new Map(lines.map((line) => [line.line % count, line]));
  return before.map(({ line }) => byElement.get(line % count)!);
}
