import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "@xo-server/store";
import { openSqlite } from "../../src/engines/sqlite-binding.js";
import { cheapScrypt } from "./harness.js";

let content: Promise<Buffer> | undefined;

/**
 * Writes a SQLite database with the tables of this version and without rows, as a first
 * start that was interrupted leaves it: migrating a new one takes most of the time of a short test.
 * @param location of a file that does not exist yet
 */
export async function writeEmptyDatabase(location: string): Promise<void> {
  content ??= createContent();
  await writeFile(location, await content, { mode: 0o600, flag: "wx" });
}

async function createContent(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "store-"));
  try {
    const location = join(folder, "store.db");
    const store = await openStore({
      location,
      key: { file: join(folder, "store.key") },
      scryptCost: cheapScrypt,
      durable: false,
      sqliteThread: false,
    });
    await store.close();
    await clear(location);
    return await readFile(location);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Deletes all rows except the applied migrations and the one that the tables require. */
async function clear(location: string): Promise<void> {
  const database = await openSqlite(location);
  try {
    const tables = database
      .prepare(
        "select name from sqlite_master where type = 'table' and name not like 'kysely%' and name not like 'sqlite%'",
      )
      .all() as readonly { readonly name: string }[];
    for (const { name } of tables)
      database.exec(
        `delete from "${name}"${name === "meta" ? " where id <> 'schema_requires'" : ""}`,
      );
    // From the journal into the file.
    const [{ busy }] = database
      .prepare("pragma wal_checkpoint(truncate)")
      .all() as [{ readonly busy: number }];
    if (busy !== 0) throw new Error("the database is still open");
  } finally {
    database.close();
  }
}
