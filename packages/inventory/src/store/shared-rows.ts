import { Cell } from "./row-table.js";
import type { BatchWriter } from "./batch-writer.js";

/** Rows of a class whose records are in shared memory, for another thread. */
export interface SharedRows {
  readonly className: string;
  /** A copy of the rows' cells (RowTable); the segment is an index in `buffers`, or negative: left out. */
  readonly cells: Int32Array<ArrayBuffer>;
  /** Integers per row. */
  readonly stride: number;
  readonly buffers: readonly SharedArrayBuffer[];
}

/** Adds an object to a batch. @param at index of the row's first cell */
export function writeCells(
  writer: BatchWriter,
  {
    className,
    cells,
    stride,
  }: Pick<SharedRows, "className" | "stride"> & {
    readonly cells: Int32Array;
  },
  at: number,
  bytes: Buffer,
): void {
  writer.add(className, bytes, {
    refOffset: cells[at + Cell.refOffset]!,
    refLength: cells[at + Cell.refLength]!,
    offset: cells[at + Cell.offset]!,
    length: cells[at + Cell.length]!,
  });
  writer.set("refHash", cells[at + Cell.refHash]!);
  writer.set("flags", cells[at + Cell.flags]!);
  writer.set("digestHigh", cells[at + Cell.digestHigh]!);
  writer.set("digestLow", cells[at + Cell.digestLow]!);
  for (let cell = at + Cell.columns; cell < at + stride; cell += 2)
    writer.addColumn(cells[cell]!, cells[cell + 1]!);
}
