/** A bench is a program whose output is a document. */
export interface Bench {
  /** One line for the list of benches. */
  readonly summary: string;
  /** Its options, as the command line shows them. */
  readonly usage: string;
  /**
   * Measures, prints and writes. Progress goes to stderr, the result to stdout.
   * @throws UsageError for unknown arguments
   */
  run(args: readonly string[]): Promise<void>;
}

/** The arguments are wrong: the user sees the message and the usage, no stack. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
