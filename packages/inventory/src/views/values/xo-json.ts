import { memberOf } from "./plain.js";

/** Characters: what clients keep in other_config is far smaller. */
const MAX_LENGTH = 65_536;

/** JSON that a client wrote into a map of texts; undefined when there is none, or none that can be read. */
export function readJson(map: unknown, key: string): unknown {
  const text = memberOf(map, key);
  if (typeof text !== "string" || text.length > MAX_LENGTH) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
