import { badAnswer } from "./bad-input.js";
import { LooseJson } from "./loose-json.js";
import { XportBuilder, type XportTable } from "./xport-table.js";

/** Maximum of archives; XAPI has 4, with 3 functions each. */
const MAX_ARCHIVES = 64;

/** An archive in the document; times and names are in other parts of it. */
interface Archive {
  /** Values, oldest row first. */
  readonly rows: readonly (readonly number[])[];
  readonly stepsPerRow: number;
}

/**
 * Decodes a round-robin database (`vm_rrd`, `host_rrd`): its averages, one table
 * per archive, the finest first. The legend names no object: the document belongs
 * to one object.
 * @throws XoError BAD_ANSWER, ANSWER_TOO_DEEP
 */
export function readRrdJson(
  bytes: Uint8Array,
  [start, end]: readonly [number, number],
): readonly XportTable[] {
  const reader = new LooseJson(bytes, start, end);
  const names: string[] = [];
  const archives: Archive[] = [];
  let step = NaN;
  let updated = NaN;
  reader.members((key) => {
    if (key === "step") step = reader.number();
    else if (key === "lastupdate") updated = reader.number();
    else if (key === "ds") reader.items(() => names.push(nameIn(reader)));
    else if (key === "rra") reader.items(() => readArchive(reader, archives));
    else reader.skip();
  });
  return archives
    .toSorted((a, b) => a.stepsPerRow - b.stepsPerRow)
    .map((archive) => toTable(archive, { names, step, updated }));
}

function nameIn(reader: LooseJson): string {
  let name = "";
  reader.members((key) => {
    if (key === "name") name = reader.text();
    else reader.skip();
  });
  return name;
}

function readArchive(reader: LooseJson, archives: Archive[]): void {
  const rows: number[][] = [];
  let stepsPerRow = NaN;
  let isAverage = false;
  reader.members((key) => {
    if (key === "cf") isAverage = reader.text() === "AVERAGE";
    else if (key === "pdp_per_row") stepsPerRow = reader.number();
    else if (key === "database")
      reader.items(() => {
        const row: number[] = [];
        reader.items(() => row.push(reader.number()));
        rows.push(row);
      });
    else reader.skip();
  });
  if (archives.length === MAX_ARCHIVES) throw badAnswer("too many archives");
  if (isAverage) archives.push({ rows, stepsPerRow });
}

interface Document {
  readonly names: readonly string[];
  /** Step of the finest archive, in s. */
  readonly step: number;
  /** Time of the last update, in s since the epoch. */
  readonly updated: number;
}

function toTable(
  { rows, stepsPerRow }: Archive,
  { names, step, updated }: Document,
): XportTable {
  const builder = new XportBuilder();
  builder.step = step * stepsPerRow;
  builder.end = Math.floor(updated / builder.step) * builder.step;
  for (const name of names) builder.name(Buffer.from(`AVERAGE:vm::${name}`));
  for (const [i, row] of rows.entries()) {
    for (const value of row) builder.value(value);
    builder.row(builder.end - (rows.length - 1 - i) * builder.step);
  }
  return builder.table();
}
