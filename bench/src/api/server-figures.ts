/** What a server did in a time, by its own clocks. */
export interface ServerFigures {
  /** Of the whole process, in ms. */
  readonly cpuMs: number;
  readonly longestBlockMs: number;
  /** Less what the main thread waited for a core. */
  readonly longestOwnBlockMs: number;
}

export type ProbeAnswer = ServerFigures | number | "begun";
