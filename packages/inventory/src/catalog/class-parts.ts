import type { Logger } from "@xo-server/xen-api";
import type { Inventory } from "../inventory.js";
import type { View } from "../views/view.js";
import type { DependencyIndex } from "./dependency-index.js";
import type { PoolDirectory } from "./pool-directory.js";
import type { RowTable } from "./row-table.js";
import type { TypeSummaries } from "./type-summaries.js";
import type { ViewCache } from "./view-cache.js";
import type { ViewEncoder } from "./view-encoder.js";
import type { FrameRing } from "./view-feed.js";
import type { ViewMaker } from "./view-maker.js";

/** What all followed classes share. */
export interface CatalogParts {
  readonly inventory: Inventory;
  readonly pools: PoolDirectory;
  readonly cache: ViewCache;
  readonly encoder: ViewEncoder;
  readonly feed: FrameRing;
  readonly logger: Logger;
  readonly counters: BuildCounters;
}

export interface BuildCounters {
  built: number;
  unchanged: number;
}

/** What reading and writing side of one followed class share. */
export interface ClassParts extends CatalogParts {
  readonly view: View;
  readonly rows: RowTable;
  readonly dependencies: DependencyIndex;
  readonly summaries: TypeSummaries;
  readonly maker: ViewMaker;
  /** Types by number: the view's, and what else it may give. */
  readonly types: string[];
}
