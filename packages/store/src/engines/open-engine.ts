import type { Engine } from "./engine.js";
import { openPostgresEngine } from "./postgres-engine.js";
import { openSqliteEngine, type SqliteSettings } from "./sqlite-engine.js";

export function isPostgres(location: string): boolean {
  return /^postgres(ql)?:\/\//.test(location);
}

export function openEngine(
  location: string,
  settings: SqliteSettings,
): Promise<Engine> {
  return isPostgres(location)
    ? openPostgresEngine(location)
    : openSqliteEngine(location, settings);
}
