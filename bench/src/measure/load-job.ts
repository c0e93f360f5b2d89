import type { PoolAddress } from "../harness/simulator.js";

/** Our own client and inventory, set up as the server sets them up. */
export interface LoadJob {
  /** All are connected in the same moment. */
  readonly pools: readonly PoolAddress[];
  readonly transport: "auto" | "xml-rpc" | "json-in-xml" | "json-rpc";
  readonly xml: "reader" | "expat" | "xmlrpc";
  readonly place: "main" | "worker" | "auto";
  /** Also make and keep the views of all classes. */
  readonly hasViews?: boolean;
}
