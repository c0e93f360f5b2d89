import { memberOf } from "./plain.js";

/** Limit in characters; data of clients in other_config is far smaller. */
const MAX_LENGTH = 65_536;

/**
 * JSON that a client stored in a map of strings; undefined when absent or
 * invalid.
 */
export function readJson(map: unknown, key: string): unknown {
  const text = memberOf(map, key);
  if (typeof text !== "string" || text.length > MAX_LENGTH) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
