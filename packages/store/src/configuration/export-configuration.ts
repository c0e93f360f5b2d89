import type { CachedTables } from "../cache/cached-tables.js";
import type { Vault } from "../secrets/vault.js";
import { toPortable } from "./portable-rows.js";

export const FORMAT = "xo-server configuration";
export const VERSION = 1;

/** A step on the main thread: some 10 us a row. */
const ROWS_A_SLICE = 20;

/**
 * The whole configuration, a JSON value a line: what it is, then
 * `[table, row]` for each row, those first that others refer to. It is taken
 * from memory, as it is at the moment of the call; tasks and the audit log are
 * no configuration.
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
    for (let at = 0; at < rows.length; at += ROWS_A_SLICE) {
      yield rows
        .slice(at, at + ROWS_A_SLICE)
        .map((row) => toPortable(name, row as never, vault))
        .map((row) => `${JSON.stringify([name, row])}\n`)
        .join("");
      await new Promise(setImmediate);
    }
}
