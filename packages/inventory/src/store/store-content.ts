import type { PoolTablesContent } from "./pool-tables.js";
import type { SegmentsContent } from "./segments.js";

/** The content of a store, in buffers that can be transferred to another thread. */
export interface StoreContent {
  readonly segments: SegmentsContent;
  readonly tables: PoolTablesContent;
  readonly mark: number;
  readonly objects: number;
}

/** The distinct buffers of a content, which are transferred with it. */
export function buffersOf({ segments, tables }: StoreContent): ArrayBuffer[] {
  return [
    ...segments.segments.flatMap((segment) => segment?.buffer ?? []),
    ...tables.uuids.map(({ slots }) => slots.buffer),
    ...tables.tables.flatMap(({ rows, byRef }) => [
      rows.cells.buffer,
      byRef.slots.buffer,
    ]),
  ];
}
