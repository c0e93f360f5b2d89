import type { PoolAddress } from "../harness/simulator.js";
import type { ApiScale } from "./api-scale.js";

/** The input of the program that measures a row. */
export interface ApiJob {
  readonly scale: ApiScale;
  /** Those that the server is to have. */
  readonly pools: readonly PoolAddress[];
  /** More options of node for the server, such as `--cpu-prof`. */
  readonly nodeOptions: readonly string[];
  /** Least time between two answers of a pool with changes, in ms. */
  readonly throttleMs?: number;
  /** More sections of the server's config. */
  readonly config?: Readonly<Record<string, unknown>>;
}
