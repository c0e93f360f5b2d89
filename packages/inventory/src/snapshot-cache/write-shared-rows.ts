import type { ZstdModule } from "@xo-server/zstd";
import { compressRows } from "../store/compress-rows.js";
import type { CompressedRows } from "../store/compressed-rows.js";
import type { SharedRows } from "../store/shared-rows.js";
import { encodeCompressed } from "./compressed-frame.js";
import { encryptFrame } from "./encrypt-frame.js";
import type { FileEnd } from "./file-end.js";

export interface WrittenRows {
  /** The new end of the file. */
  readonly end: FileEnd;
  /** The rows as they are in the file. */
  readonly rows: CompressedRows;
}

/**
 * Compresses rows and writes them as a frame without status, behind the frames of a file.
 * @param key of the file (`fileKey`)
 * @param write writes buffers, in order, at an offset of the file in bytes; returns their length
 * @throws Error what `write` throws
 */
export function writeSharedRows(
  shared: SharedRows,
  zstd: ZstdModule,
  { key, end }: { readonly key: Uint8Array; readonly end: FileEnd },
  write: (parts: readonly Buffer[], at: number) => number,
): WrittenRows {
  const rows = compressRows(shared, zstd);
  const parts = encryptFrame(key, end.frames, encodeCompressed(rows));
  const length = write(parts, end.bytes);
  return {
    rows,
    end: { bytes: end.bytes + length, frames: end.frames + 1 },
  };
}
