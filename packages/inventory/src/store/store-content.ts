import type { PoolTablesContent } from "./pool-tables.js";
import type { SegmentsContent } from "./segments.js";

/** What a store holds, in buffers that can be moved to another thread. */
export interface StoreContent {
  readonly segments: SegmentsContent;
  readonly tables: PoolTablesContent;
  readonly mark: number;
  readonly objects: number;
}

/** The buffers of a content, each once: what is transferred with it. */
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
