/** A simulated pool. */
export interface DemoPool {
  readonly label: string;
  /** Such as `http://127.0.0.1:41234`. */
  readonly url: string;
  readonly user: string;
  readonly password: string;
}

export interface Demo {
  /** Rejects when the simulator ends before its pools answer. */
  readonly ready: Promise<readonly DemoPool[]>;
  /** Stops the simulated pools, at any time, also before `ready`. */
  stop(): Promise<unknown>;
}

/**
 * Starts simulated pools in a separate process. The folder `bin` passes it, because
 * it alone may import the simulator.
 */
export type StartDemoPools = (profiles: readonly string[]) => Demo;

export const DEFAULT_DEMO = ["A", "B", "C"] as const;
