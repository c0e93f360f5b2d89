import type { PoolAddress } from "../harness/simulator.js";

/** Which program transfers the bytes from the pool to the client. */
export const serversUnderTest = ["proxy", "server", "checksum"] as const;
type ServerUnderTest = (typeof serversUnderTest)[number];

export interface ExportJob {
  readonly pool: PoolAddress;
  readonly serverUnderTest: ServerUnderTest;
  /** Of the disk that is fetched. */
  readonly bytes: number;
}
