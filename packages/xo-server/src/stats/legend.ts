import type { Steps } from "@xo-server/inventory";
import { shapeOf, type Shape } from "./shape.js";

/** Whose columns of an answer are. */
export interface LegendEntry {
  readonly uuid: string;
  readonly shape: Shape;
  /** First of its columns; they stand together. */
  readonly from: number;
}

/** What a host tells of, until its legend is another. */
export interface Legend {
  readonly key: string;
  readonly entries: readonly LegendEntry[];
}

const NEWLINE = 0x0a;
const TAB = 0x09;
/** Objects between two looks at the clock. */
const LINES_A_STEP = 20;

/** Reads the legend of a table: see XportTable. */
export function* readLegend(text: Uint8Array, entries: LegendEntry[]): Steps {
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  let from = 0;
  for (let at = 0, line = 1; at < bytes.length; line++) {
    const newline = bytes.indexOf(NEWLINE, at);
    const end = newline === -1 ? bytes.length : newline;
    const type = bytes.indexOf(TAB, at);
    const uuid = bytes.indexOf(TAB, type + 1);
    // Each its own text: a part of one would hold all of it.
    const names = bytes.toString("utf8", uuid + 1, end);
    const shape = shapeOf(bytes.toString("latin1", at, type), names);
    if (shape !== undefined)
      entries.push({
        uuid: bytes.toString("latin1", type + 1, uuid),
        shape,
        from,
      });
    from += shape?.names.length ?? names.split("\t").length;
    at = end + 1;
    if (line % LINES_A_STEP === 0) yield;
  }
}
