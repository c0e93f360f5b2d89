import type { Task } from "@xo-server/store";

/** Selects the tasks of a list, which must meet all conditions. */
export interface TaskQuery {
  readonly objectId?: string;
  /** Tasks of this user. Only administrators may request those of other users. */
  readonly userId?: string;
  readonly status?: Task["status"];
  /** Start of the tasks, in ms since the epoch: from `since`, before `until`. */
  readonly since?: number;
  readonly until?: number;
}
