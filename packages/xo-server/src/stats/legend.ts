import type { Steps } from "@xo-server/inventory";
import { columnSetOf, type ColumnSet } from "./column-set.js";

/** An object of a response, with its columns. */
export interface LegendEntry {
  readonly uuid: string;
  readonly columnSet: ColumnSet;
  /** Index of its first column; its columns are contiguous. */
  readonly from: number;
}

/** The objects and columns of a host, until its legend changes. */
export interface Legend {
  readonly key: string;
  readonly entries: readonly LegendEntry[];
}

const NEWLINE = 0x0a;
const TAB = 0x09;
/** Lines per step of a slice. */
const LINES_PER_STEP = 20;

/** Reads the legend of a table: see XportTable. */
export function* readLegend(text: Uint8Array, entries: LegendEntry[]): Steps {
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  let from = 0;
  for (let at = 0, line = 1; at < bytes.length; line++) {
    const newline = bytes.indexOf(NEWLINE, at);
    const end = newline === -1 ? bytes.length : newline;
    const type = bytes.indexOf(TAB, at);
    const uuid = bytes.indexOf(TAB, type + 1);
    // A copy: a substring would retain the whole text.
    const names = bytes.toString("utf8", uuid + 1, end);
    const columnSet = columnSetOf(bytes.toString("latin1", at, type), names);
    if (columnSet !== undefined)
      entries.push({
        uuid: bytes.toString("latin1", type + 1, uuid),
        columnSet,
        from,
      });
    from += columnSet?.names.length ?? names.split("\t").length;
    at = end + 1;
    if (line % LINES_PER_STEP === 0) yield;
  }
}
