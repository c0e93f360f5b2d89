/** From the runner to a child: run this file. */
export interface RunFile {
  /** Absolute path of a compiled test file. */
  readonly path: string;
  /** The human-readable name of the file. */
  readonly name: string;
}

export interface Skipped {
  readonly title: string;
  readonly reason: string;
}

/** From a child to the runner: the file has ended. */
export interface FileResult {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: readonly Skipped[];
  /** Each failed assertion: title, difference, stack. */
  readonly failures: readonly string[];
  /** Milliseconds of CPU time of this process and of the programs that the file ran. */
  readonly cpu: number;
}
