import { stat } from "node:fs/promises";
import { XoError } from "@xo-server/model";
import { hasTable } from "./engines/current-tables.js";
import type { Engine } from "./engines/engine.js";
import { isPostgres } from "./engines/open-engine.js";
import type { StoreSettings } from "./options.js";
import { readLost } from "./repositories/audit-loss.js";
import { AuditMark } from "./repositories/audit-mark.js";
import { readKeyCheck } from "./secrets/key-rotation.js";

type CreationSettings = Pick<
  StoreSettings,
  "location" | "key" | "create" | "traces" | "auditMark"
>;

/**
 * A missing or empty SQLite file is not opened, so that nothing is created and a
 * journal beside it is not deleted, unless a new database may be created.
 * @throws XoError STORE_MISSING
 */
export async function checkFile(settings: CreationSettings): Promise<void> {
  const { location } = settings;
  if (isPostgres(location)) return;
  const size = await sizeOf(location);
  if (size === undefined) await checkCreation(settings, "does not exist");
  else if (size === 0) await checkCreation(settings, "is empty");
}

/**
 * @returns whether the database is new: its first start is not completed
 * @throws XoError STORE_MISSING if it is empty but must not be created
 */
export async function checkContent(
  engine: Engine,
  settings: CreationSettings,
): Promise<boolean> {
  if (await hasTables(engine)) {
    if ((await readKeyCheck(engine)) !== undefined) return false;
    // Tables without a key check: the first start was interrupted.
    await checkCreation({ ...settings, traces: [] }, "is empty", false);
  } else await checkCreation(settings, "is empty");
  return true;
}

/**
 * A SQLite database that lost what this server has written to it is not opened by a
 * server, and stays as it is: its journal may be put back. A PostgreSQL database may
 * lose its last transactions when a standby takes over: that is logged (AuditLog).
 * @throws XoError STORE_OUTDATED
 */
export async function checkLoss(
  engine: Engine,
  settings: StoreSettings,
): Promise<void> {
  const { create, location } = settings;
  if (create === "never" || isPostgres(location)) return;
  const lost = await findLoss(engine, settings);
  if (lost !== undefined) throw lost;
}

/** @returns XoError STORE_OUTDATED, or undefined: nothing is lost */
export async function findLoss(
  engine: Engine,
  settings: StoreSettings,
): Promise<XoError | undefined> {
  const { location, auditMark: file } = settings;
  const mark = await AuditMark.of(settings)?.read();
  const lost = mark && (await readLost(engine, mark, file));
  if (lost === undefined) return undefined;
  return new XoError("STORE_OUTDATED", {
    where: whereIs(location),
    reason: `entry ${lost.seq} of the audit log: ${lost.reason}`,
    remedy: isPostgres(location)
      ? `restore a newer copy; ${ACCEPT}`
      : `restore the file with the -wal file that belongs to it, or a newer copy; ${ACCEPT}`,
  });
}

const ACCEPT = "to continue without what was lost: xo-server audit accept";

function whereIs(location: string): string {
  return isPostgres(location)
    ? "the PostgreSQL database"
    : `the database ${location}`;
}

async function checkCreation(
  settings: CreationSettings,
  state: string,
  isKeyTrace = !isPostgres(settings.location),
): Promise<void> {
  const { create, location, key } = settings;
  if (create === "always") return;
  const where = whereIs(location);
  // Several servers on PostgreSQL get their key before the first start.
  const keyFile = isKeyTrace && "file" in key ? [key.file] : [];
  for (const file of [settings.auditMark, ...keyFile, ...settings.traces])
    if (file !== "" && (await sizeOf(file)) !== undefined)
      throw new XoError("STORE_MISSING", {
        where,
        trace: file,
        reason: `${state}, but ${file} of an earlier start exists`,
        remedy: isPostgres(location)
          ? "restore the database from a backup, or start once with --new-store to continue with an empty one"
          : "restore the file, with its -wal file if there is one, or start once with --new-store to continue with an empty database",
      });
  if (create === "never")
    throw new XoError("STORE_MISSING", {
      where,
      reason: state,
      remedy:
        "check --config and --data; only `xo-server start` creates a database",
    });
}

function hasTables(engine: Engine): Promise<boolean> {
  return hasTable(engine.reader, engine, "meta");
}

/** @returns undefined: there is no such file */
async function sizeOf(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new XoError("STORE_UNAVAILABLE", { reason: message });
  }
}
