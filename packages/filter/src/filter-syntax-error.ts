/** A text that is no filter. */
export class FilterSyntaxError extends Error {
  override readonly name = "FilterSyntaxError";
  /** What was expected in place of what stands there: `a term`, `a closing quote`. */
  readonly expected: string;
  /** In UTF-16 units from 0; the text's length when it ends too early. */
  readonly position: number;

  constructor(expected: string, position: number) {
    super(`expected ${expected} at position ${String(position)}`);
    this.expected = expected;
    this.position = position;
  }
}
