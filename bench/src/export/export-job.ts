import type { PoolAddress } from "../harness/simulator.js";

/** Which program transfers the bytes from the pool to the client. */
export const carriers = ["proxy", "server", "checksum"] as const;
export type Carrier = (typeof carriers)[number];

export interface ExportJob {
  readonly pool: PoolAddress;
  readonly carrier: Carrier;
  /** Of the disk that is fetched. */
  readonly bytes: number;
}
