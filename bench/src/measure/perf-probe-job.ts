/** How much a way to watch the event loop costs. */
export interface PerfProbeJob {
  readonly detector:
    | "none"
    | "xo:perf"
    | "xo:perf 1 ms"
    | "monitorEventLoopDelay"
    | "blocked-at";
  /** Awaits of a resolved promise, one after the other. */
  readonly awaits: number;
  /** Turns of the event loop by setImmediate. */
  readonly turns: number;
  /** How long the process then waits with nothing to do. */
  readonly idleMs: number;
}
