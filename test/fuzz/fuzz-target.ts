/** What a module in `packages/<name>/test/fuzz` exports. */
export interface FuzzTarget {
  /** Valid inputs to start from. */
  readonly seeds: readonly (string | Uint8Array)[];
  /** @throws errors that are defects; documented errors are caught */
  readonly run: (input: Buffer) => void | Promise<void>;
}
