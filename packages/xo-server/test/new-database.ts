import { rmSync } from "node:fs";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "@xo-server/store";
import type { Test } from "tap";
import { cheapCosts } from "./cheap-costs.js";

/** A SQLite database and its key, as in the configuration. */
interface Database {
  readonly location: string;
  readonly keyFile: string;
}

let first: Promise<Database> | undefined;

/**
 * A database without users, and its key, deleted with the test: a copy of the first one of this
 * process, because migrating a new one takes more CPU time than the start of a server.
 */
export async function createDatabase(t: Test): Promise<Database> {
  first ??= createFirst();
  const folder = await createFolder();
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const database = databaseIn(folder);
  const { location, keyFile } = await first;
  await copyFile(location, database.location);
  await copyFile(keyFile, database.keyFile);
  return database;
}

async function createFirst(): Promise<Database> {
  const folder = await createFolder();
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const database = databaseIn(folder);
  const { location, keyFile } = database;
  const store = await openStore({
    location,
    key: { file: keyFile },
    ...cheapCosts,
  });
  await store.close();
  return database;
}

/** Not in the folder of the test, which the test may replace. */
function createFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), "xo-server-"));
}

function databaseIn(folder: string): Database {
  return {
    location: join(folder, "store.db"),
    keyFile: join(folder, "store.key"),
  };
}
