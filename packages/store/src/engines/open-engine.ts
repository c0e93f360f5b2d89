import type { Engine } from "./engine.js";
import { openPostgresEngine } from "./postgres-engine.js";
import { openSqliteEngine, type SqliteSettings } from "./sqlite-engine.js";

/** @param location a URL of PostgreSQL, or the path of an SQLite file */
export function isPostgres(location: string): boolean {
  return /^postgres(ql)?:\/\//.test(location);
}

/**
 * @param location a URL of PostgreSQL, or the path of an SQLite file
 * @param settings of SQLite only
 */
export function openEngine(
  location: string,
  settings: SqliteSettings,
): Promise<Engine> {
  return isPostgres(location)
    ? openPostgresEngine(location)
    : openSqliteEngine(location, settings);
}
