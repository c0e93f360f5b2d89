import { mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { XoError } from "@xo-server/model";
import { Kysely, sql } from "kysely";
import type { Tables } from "../schema/tables.js";
import type { Engine, FailureKind } from "./engine.js";
import { SqliteDialect } from "./sqlite-dialect.js";
import { SqliteFailure } from "./sqlite-failure.js";
import { SqliteInProcess } from "./sqlite-in-process.js";
import { SqliteThread } from "./sqlite-thread.js";

/** SQLite's extended result codes, https://sqlite.org/rescode.html */
const CONSTRAINT = 19;
const DUPLICATE_CODES = new Set([1555, 2067, 2579]);
const FOREIGN_KEY = 787;
/** No code (the thread has ended), then perm, busy, locked, readonly, ioerr, corrupt, full, cantopen, protocol, notadb. */
const UNAVAILABLE_CODES = new Set([0, 3, 5, 6, 8, 10, 11, 13, 14, 15, 26]);

export interface SqliteSettings {
  /** Whether SQLite runs in a separate thread, so that it does not block the caller. */
  readonly sqliteThread: boolean;
  /** Whether a commit waits until the disk has it. */
  readonly durable: boolean;
}

/** The embedded database: one file (and its journal) that only its owner can read. */
export async function openSqliteEngine(
  file: string,
  { sqliteThread, durable }: SqliteSettings,
): Promise<Engine> {
  await createPrivately(file);
  const executor = sqliteThread
    ? new SqliteThread(file, durable)
    : new SqliteInProcess(file, durable);
  const reader = new Kysely<Tables>({
    dialect: new SqliteDialect(executor, "reader"),
  });
  const writer = new Kysely<Tables>({
    dialect: new SqliteDialect(executor, "writer"),
  });
  return {
    name: "sqlite",
    reader,
    writer,
    withoutTimeLimits: (use) => use(writer),
    classify,
    async checkpoint() {
      // By the reader, as a checkpoint must not run in a transaction of the writer.
      await sql`pragma wal_checkpoint(truncate)`.execute(reader);
    },
    async copyTo(copy) {
      const draft = `${copy}.draft`;
      await rm(draft, { force: true });
      // `vacuum into` accepts an empty file, and keeps its mode.
      await (await open(draft, "wx", 0o600)).close();
      await sql`vacuum into ${draft}`.execute(reader);
      const handle = await open(draft, "r+");
      try {
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(draft, copy);
    },
    hasCopy: (copy) =>
      stat(copy).then(
        () => true,
        () => false,
      ),
    async checkIntegrity() {
      const found = await sql<{
        integrity_check: string;
      }>`pragma integrity_check(10)`.execute(reader);
      return found.rows
        .map(({ integrity_check }) => integrity_check)
        .filter((text) => text !== "ok");
    },
    close: () => executor.close(),
  };
}

async function createPrivately(file: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await (await open(file, "a", 0o600)).close();
  } catch (error) {
    const { message } = error as Error;
    throw new XoError("STORE_UNAVAILABLE", { reason: message });
  }
}

function classify(error: unknown): FailureKind {
  if (!(error instanceof SqliteFailure)) return "other";
  if (DUPLICATE_CODES.has(error.code)) return "duplicate";
  if (error.code === FOREIGN_KEY) return "missing";
  const primary = error.code & 0xff;
  if (primary === CONSTRAINT) return "other";
  return UNAVAILABLE_CODES.has(primary) ? "unavailable" : "other";
}
