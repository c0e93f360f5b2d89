import type { Logger } from "@xo-server/kit";
import type { Inventory } from "../mirror/inventory.js";
import type { View } from "../views/view.js";
import type { DependencyIndex } from "./dependency-index.js";
import type { LoadingPools } from "./loading-pools.js";
import type { PoolDirectory } from "./pool-directory.js";
import type { ViewRowTable } from "./view-row-table.js";
import type { TypeSummaries } from "./type-summaries.js";
import type { ViewCache } from "./view-cache.js";
import type { ViewEncoder } from "./view-encoder.js";
import type { FrameRing } from "./view-feed.js";
import type { ViewBuilder } from "./view-builder.js";

/** Services shared by all followed classes. */
export interface CatalogContext {
  readonly inventory: Inventory;
  readonly pools: PoolDirectory;
  readonly loading: LoadingPools;
  readonly cache: ViewCache;
  readonly encoder: ViewEncoder;
  readonly feed: FrameRing;
  readonly logger: Logger;
  readonly counters: BuildCounters;
  /**
   * Whether records have changed since the catalog was notified of changes
   * last.
   */
  readonly hasUnseenChanges: () => boolean;
}

interface BuildCounters {
  /** Objects built and encoded for the feed. */
  built: number;
  /** Rows updated without building their objects. */
  refreshed: number;
  unchanged: number;
}

/**
 * State shared by the reading (ViewRows) and the writing side (RowWriter) of
 * one followed class.
 */
export interface ClassContext extends CatalogContext {
  readonly view: View;
  readonly rows: ViewRowTable;
  readonly dependencies: DependencyIndex;
  readonly summaries: TypeSummaries;
  /** Builds whole objects. */
  readonly builder: ViewBuilder;
  /** Reads single properties. */
  readonly reader: ViewBuilder;
  /** Types by number: those that the view declares, then others that occurred. */
  readonly types: string[];
}
