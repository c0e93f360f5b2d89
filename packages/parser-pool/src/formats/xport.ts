import { badAnswer } from "./bad-input.js";
import type { Format } from "./format.js";
import { readXportJson } from "./xport-json.js";
import { readXportXml } from "./xport-xml.js";

const OPEN_MAP = 0x7b;
const LT = 0x3c;

/** What `rrd_updates` answers: JSON or XML, which the first byte tells. It needs the whole of it. */
export const xport: Format = ({ bytes, start, end }) => {
  let at = start;
  while (at < end && bytes[at]! <= 0x20) at++;
  if (bytes[at] !== OPEN_MAP && bytes[at] !== LT)
    throw badAnswer("it is neither JSON nor XML");
  const read = bytes[at] === LT ? readXportXml : readXportJson;
  return {
    batches: [],
    tail: new Uint8Array(0),
    state: undefined,
    xport: read(bytes, at, end),
  };
};
