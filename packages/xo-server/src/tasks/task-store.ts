import type { Store } from "@xo-server/store";

/** The parts of the store that tasks use. */
export type TaskStore = Pick<
  Store["tasks"],
  | "put"
  | "get"
  | "list"
  | "delete"
  | "deleteEnded"
  | "listOfOtherServers"
  | "whichOf"
  | "askToAbort"
  | "listCancelRequested"
  | "listPending"
>;
