import { transferable } from "@xo-server/model";
import type { PoolTablesContent } from "./pool-tables.js";
import type { SegmentsContent } from "./segments.js";

/** The content of a store, in buffers that can be transferred to another thread or shared with it. */
export interface StoreContent {
  readonly segments: SegmentsContent;
  readonly tables: PoolTablesContent;
  readonly mark: number;
  readonly objects: number;
}

/** The distinct buffers of a content that are transferred with it: tables are shared. */
export function buffersOf({ segments }: StoreContent): readonly ArrayBuffer[] {
  return transferable(
    segments.segments.flatMap((segment) => segment?.buffer ?? []),
  );
}

/** Whether records of a content are compressed. */
export function hasBlocks({ segments }: StoreContent): boolean {
  return segments.segments.some((segment) => segment?.block !== undefined);
}
