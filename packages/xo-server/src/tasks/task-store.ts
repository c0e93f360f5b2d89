import type { Store } from "@xo-server/store";

/** What tasks need of the store. */
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
