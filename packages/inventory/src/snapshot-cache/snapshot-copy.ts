import type { Readable } from "node:stream";

/** What a store or a file holds, to compare a copy with the original. */
export interface ContentSummary {
  readonly objects: number;
  /** See Inventory.digest. */
  readonly digest: string;
}

/** The snapshot file of a pool, for another server that has no snapshot of it. */
export interface SnapshotCopy extends ContentSummary {
  /** Size of the file in bytes. */
  readonly bytes: number;
  /** Key of this file alone. Secret. */
  readonly key: Uint8Array;
  /** The file, encrypted. To be read to its end, or destroyed. */
  readonly body: Readable;
}

/**
 * Fetches a copy of a pool's snapshot from another server, and calls `load` with
 * it; with that of a further server if `load` rejects. Never rejects.
 */
export type FetchCopy = (
  pool: { readonly poolId: string; readonly label: string },
  load: (copy: SnapshotCopy) => Promise<void>,
  signal: AbortSignal,
) => Promise<void>;
