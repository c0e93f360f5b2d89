/** Syntax error of a filter. */
export class FilterSyntaxError extends Error {
  override readonly name = "FilterSyntaxError";
  /** What was expected at the position: `a term`, `a closing quote`. */
  readonly expected: string;
  /** In UTF-16 units from 0; the length of the text when it ended too early. */
  readonly position: number;

  constructor(expected: string, position: number) {
    super(`expected ${expected} at position ${String(position)}`);
    this.expected = expected;
    this.position = position;
  }
}
