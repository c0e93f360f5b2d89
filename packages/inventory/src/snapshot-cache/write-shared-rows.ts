import { BatchWriter } from "../store/batch-writer.js";
import { writeCells, type SharedRows } from "../store/shared-rows.js";
import { Cell } from "../store/row-table.js";
import { encryptFrame } from "./encrypt-frame.js";
import { encodeIndex } from "./frame.js";
import { FRAME_BYTES } from "./row-scan.js";
import type { FileEnd } from "./file-end.js";

/**
 * Writes rows as frames without status, behind the frames of a file.
 * @param key of the file (`fileKey`)
 * @param write writes buffers, in order, at an offset of the file in bytes; returns their length
 * @returns the new end of the file
 * @throws Error what `write` throws
 */
export function writeSharedRows(
  rows: SharedRows,
  key: Uint8Array,
  { bytes, frames }: FileEnd,
  write: (parts: readonly Buffer[], at: number) => number,
): FileEnd {
  const buffers = rows.buffers.map((buffer) => Buffer.from(buffer));
  const writer = new BatchWriter();
  let end = { bytes, frames };
  const flush = () => {
    const batch = writer.read();
    const parts = encryptFrame(key, end.frames, {
      index: encodeIndex(batch),
      records: batch.bytes,
    });
    const length = write(parts, end.bytes);
    end = { bytes: end.bytes + length, frames: end.frames + 1 };
    writer.clear();
  };
  const { cells, stride } = rows;
  for (let at = 0; at < cells.length; at += stride) {
    const buffer = buffers[cells[at + Cell.segment]!];
    if (buffer !== undefined) writeCells(writer, rows, at, buffer);
    if (writer.bytes >= FRAME_BYTES) flush();
  }
  if (writer.count > 0) flush();
  return end;
}
