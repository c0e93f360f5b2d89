import type { JobRunStatus } from "@xo-server/store";
import type { LoggedCalls } from "./call-log.js";

/** Outcome of a run. */
export interface RunOutcome {
  readonly status: JobRunStatus;
  readonly body: RunBody;
}

export interface RunBody extends Partial<LoggedCalls> {
  /** Number of calls that were not started. */
  readonly notBegun?: number;
  /** Why no calls, or no more calls, were made. */
  readonly error?: object;
  readonly reason?: string;
}
