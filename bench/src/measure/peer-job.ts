import type { PoolAddress } from "../harness/simulator.js";

/** The client that Xen Orchestra uses, npm `xen-api`, with the transport forced. */
export interface PeerJob {
  readonly pool: PoolAddress;
  readonly transport: "json-rpc" | "xml-rpc";
}
