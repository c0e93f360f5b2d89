import type { CachedTables } from "../cache/cached-tables.js";
import type { Vault } from "../secrets/vault.js";
import { toPortable } from "./portable-rows.js";

export const FORMAT = "xo-server configuration";
export const VERSION = 1;

/** Rows per turn of the event loop; about 10 us per row. */
const ROWS_PER_SLICE = 20;

/**
 * The whole configuration as lines of JSON: a header, then `[table, row]` for
 * each row, referenced rows first. A snapshot of the cache at the moment of the
 * call; tasks and the audit log are not part of the configuration.
 */
export function exportRows(
  tables: CachedTables,
  vault: Vault,
  time: number,
): AsyncGenerator<string> {
  const snapshot = Object.values(tables).map(
    (table) => [table.name, [...table.values()]] as const,
  );
  return lines(snapshot, vault, time);
}

async function* lines(
  snapshot: readonly (readonly [string, readonly object[]])[],
  vault: Vault,
  time: number,
): AsyncGenerator<string> {
  yield `${JSON.stringify({ format: FORMAT, version: VERSION, time })}\n`;
  for (const [name, rows] of snapshot)
    for (let at = 0; at < rows.length; at += ROWS_PER_SLICE) {
      yield rows
        .slice(at, at + ROWS_PER_SLICE)
        .map((row) => toPortable(name, row as never, vault))
        .map((row) => `${JSON.stringify([name, row])}\n`)
        .join("");
      await new Promise(setImmediate);
    }
}
