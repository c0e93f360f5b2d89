import { badAnswer } from "./bad-input.js";
import type { Format, FormatInput } from "./format.js";
import { readRrdJson } from "./rrd-json.js";
import { readXportJson } from "./xport-json.js";
import type { XportTable } from "./xport-table.js";
import { readXportXml } from "./xport-xml.js";

const OPEN_MAP = 0x7b;
const LT = 0x3c;

/**
 * The answer of `rrd_updates`: JSON or XML, decided by the first byte. Needs the
 * whole answer. `state`: key of a legend that the caller has.
 */
export const xport: Format = (input) => {
  const { bytes, end, state } = input;
  const at = firstOf(input);
  const known = typeof state === "string" ? state : undefined;
  if (bytes[at] === OPEN_MAP)
    return tablesOf([readXportJson(bytes, [at, end], known)]);
  if (bytes[at] === LT)
    return tablesOf([readXportXml(bytes, [at, end], known)]);
  throw badAnswer("neither JSON nor XML");
};

/** The whole answer of `vm_rrd?json`. */
export const rrd: Format = (input) => {
  const at = firstOf(input);
  if (input.bytes[at] !== OPEN_MAP) throw badAnswer("not JSON");
  return tablesOf(readRrdJson(input.bytes, [at, input.end]));
};

function firstOf({ bytes, start, end }: FormatInput): number {
  let at = start;
  while (at < end && bytes[at]! <= 0x20) at++;
  return at;
}

function tablesOf(tables: readonly XportTable[]) {
  return {
    batches: [],
    tail: new Uint8Array(0),
    state: undefined,
    tables,
  };
}
