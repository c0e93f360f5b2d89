import type { Engine } from "./engine.js";
import { openPostgresEngine } from "./postgres-engine.js";
import { openSqliteEngine } from "./sqlite-engine.js";

export function isPostgres(location: string): boolean {
  return /^postgres(ql)?:\/\//.test(location);
}

/** @param sqliteThread whether SQLite runs in a thread of its own */
export function openEngine(
  location: string,
  sqliteThread: boolean,
): Promise<Engine> {
  return isPostgres(location)
    ? openPostgresEngine(location)
    : openSqliteEngine(location, sqliteThread);
}
