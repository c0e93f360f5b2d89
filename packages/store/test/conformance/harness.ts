import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type Store, type StoreOptions } from "@xo-server/store";
import { createManualClock } from "./manual-clock.js";

/** An engine for the suite: new databases, and direct access to them. */
export interface StoreHarness {
  createDatabase(folder: string): Promise<TestDatabase>;
}

export interface TestDatabase {
  /** `location` for `openStore`. */
  readonly location: string;
  /** Runs SQL directly, as an attacker would. */
  query(sql: string): Promise<readonly Record<string, unknown>[]>;
  remove(): Promise<void>;
}

/** The part of tap's Test that the suite needs. */
export interface Teardown {
  teardown(callback: () => Promise<void> | void): void;
}

/** Low cost, as the suite hashes often. */
export const cheapScrypt = { ln: 10, r: 8, p: 1 };

/** A database, a key file and a clock for one test. */
export async function createBench(t: Teardown, harness: StoreHarness) {
  const folder = await mkdtemp(join(tmpdir(), "store-"));
  const database = await harness.createDatabase(folder);
  const clock = createManualClock();
  const opened: Store[] = [];
  t.teardown(async () => {
    for (const store of opened) await store.close().catch(() => undefined);
    await database.remove();
    await rm(folder, { recursive: true, force: true });
  });
  const keyFile = join(folder, "store.key");
  return {
    ...database,
    folder,
    clock,
    keyFile,
    /** Opens the same database each time. */
    async open(options: Partial<StoreOptions> = {}): Promise<Store> {
      const store = await openStore({
        location: database.location,
        key: { file: keyFile },
        scryptCost: cheapScrypt,
        passphraseCost: cheapScrypt.ln,
        // Tests end processes, not machines.
        durable: false,
        // A thread costs more than what most tests do in it; those of the thread start it.
        sqliteThread: false,
        clock,
        ...options,
      });
      opened.push(store);
      return store;
    },
    /** The content of the database as text. */
    async dump(): Promise<string> {
      const tables = [
        "meta",
        "settings",
        "servers",
        "users",
        "tokens",
        "plugins",
        "jobs",
        "alarm_rules",
        "cloud_configs",
        "audit",
      ];
      const rows = await Promise.all(
        tables.map((table) => database.query(`select * from ${table}`)),
      );
      return JSON.stringify(rows);
    },
  };
}

export async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

export async function collect(
  chunks: AsyncIterable<Uint8Array>,
): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}
