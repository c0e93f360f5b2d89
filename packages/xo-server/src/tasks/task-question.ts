import type { Task } from "@xo-server/store";

/** Which tasks a list has: all of these conditions. */
export interface TaskQuestion {
  readonly objectId?: string;
  /** Of other users only for administrators. */
  readonly userId?: string;
  readonly status?: Task["status"];
  /** Start of the tasks, in ms since the epoch: from `since`, before `until`. */
  readonly since?: number;
  readonly until?: number;
}
