import { writeSync } from "node:fs";
import { wallClock } from "@xo-server/kit";
import { sql } from "kysely";
import { openPostgresEngine } from "../src/engines/postgres-engine.js";
import { withMigrationLock } from "../src/migration-lock.js";

// Has the lock of migrations, prints `locked`, and is frozen or killed then; when it continues, it prints `completed`.
const engine = await openPostgresEngine(process.argv[2] ?? "");
const print = (line: string) => writeSync(1, `${line}\n`);
const logger = { info: print };
await withMigrationLock({ engine, timers: wallClock, logger }, async (db) => {
  print("locked");
  // Long enough to be frozen here.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  await sql.raw(process.argv[3] ?? "").execute(db);
});
print("completed");
await engine.close();
