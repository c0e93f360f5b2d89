/** From the runner to a child: run this file. */
export interface RunFile {
  /** Absolute path of a compiled test file. */
  readonly path: string;
  /** The human-readable name of the file. */
  readonly name: string;
}

/** From the runner to a child whose file does not end: what does it wait for? */
export interface WaitQuestion {
  readonly asksWhatItWaitsFor: true;
}

/** From a child to the runner. */
export interface WaitAnswer {
  /** Title of the innermost test that runs. */
  readonly runningTest: string;
  /** What keeps the process alive, each with its number. */
  readonly resources: readonly string[];
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
