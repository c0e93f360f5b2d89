import type { PoolAddress } from "../harness/simulator.js";

/** The reference rows: the same listing, read as bytes. */
export interface DownloadJob {
  readonly pool: PoolAddress;
  /** `http`: node:http; `onread`: a socket into one fixed buffer; `parse`: node:http and one JSON.parse an answer. */
  readonly way: "http" | "onread" | "parse";
  /** Answers under way at a time. */
  readonly connections: number;
}
