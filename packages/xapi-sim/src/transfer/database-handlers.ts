import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Database } from "../database.js";
import type {
  HandlerContext,
  HandlerRequest,
  HandlerResponse,
  HttpHandler,
} from "../http-handler.js";
import { durations } from "../operations/effects/durations.js";
import { recordForgottenDisk } from "../operations/storage/forgotten-disks.js";
import { restartAgent } from "../operations/host/host-availability.js";
import { text } from "../records/fields.js";
import { XapiFailure } from "../xapi-failure.js";
import {
  dumpDatabase,
  readDump,
  SCHEMA,
  type DumpedTables,
} from "./database-dump.js";
import { importHead, refuseChunked } from "./import-handlers.js";

export const databaseHandlers: readonly HttpHandler[] = [
  {
    name: "get_pool_xmldbdump",
    method: "GET",
    path: "/pool/xmldbdump",
    handle: dump,
  },
  {
    name: "put_pool_xmldbdump",
    method: "PUT",
    path: "/pool/xmldbdump",
    handle: restore,
  },
];

async function dump(
  _: HandlerRequest,
  response: HandlerResponse,
  context: HandlerContext,
): Promise<void> {
  const stream = response.start({
    version: "1.1",
    headers: [
      ["Connection", "close"],
      ["Cache-Control", "no-cache, no-store"],
    ],
  });
  await pipeline(Readable.from(dumpDatabase(context)), stream);
}

/**
 * The header is sent before the dump is read: errors are in the task. With `dry_run` the dump is
 * checked only; else the coordinator's toolstack restarts, and all sessions end
 * [pool_db_backup.ml, from memory].
 */
async function restore(
  request: HandlerRequest,
  response: HandlerResponse,
  context: HandlerContext,
): Promise<void> {
  refuseChunked(request, response);
  const stream = response.start(importHead(context));
  try {
    const parts = [];
    for await (const part of request.body()) parts.push(part);
    const tables = checkedTables(context, Buffer.concat(parts).toString());
    if (request.query.has("dry_run")) return;
    replaceTables(context, tables);
    const { pool } = context;
    pool.later(durations.fuse, () =>
      restartAgent(context, pool.coordinatorRef()),
    );
  } finally {
    stream.end();
  }
}

/** @throws XapiFailure for what is not a dump of this pool, made by this version */
function checkedTables(context: HandlerContext, xml: string): DumpedTables {
  const { major, minor, tables } = parsed(xml);
  if (major !== SCHEMA.major || minor > SCHEMA.minor)
    throw new XapiFailure("RESTORE_INCOMPATIBLE_VERSION");
  // A listener of the simulator belongs to a host for ever, so that it has to be in the dump.
  const coordinator = context.pool.coordinatorRef();
  if (tables.get("host")?.has(coordinator) !== true)
    throw new XapiFailure("RESTORE_TARGET_MGMT_IF_NOT_IN_BACKUP");
  return tables;
}

function parsed(xml: string): ReturnType<typeof readDump> {
  try {
    return readDump(xml);
  } catch (error) {
    throw new XapiFailure("RESTORE_SCRIPT_FAILED", [(error as Error).message]);
  }
}

/** What lives with the toolstack is not restored. */
const transient = new Set(["message", "session", "task"]);

function replaceTables(context: HandlerContext, tables: DumpedTables): void {
  const { db, state } = context;
  const master = context.pool.coordinatorRef();
  const restored = [...tables].filter(([name]) => !transient.has(name));
  for (const [className, rows] of restored)
    for (const ref of [...db.refs(className)])
      if (!rows.has(ref)) {
        // It is still on its SR: a scan finds it again.
        if (className === "VDI") recordForgottenDisk(context, ref);
        db.destroy(className, ref);
      }
  for (const [className, rows] of restored)
    for (const [ref, { record, contents }] of rows) {
      if (db.find(className, ref) === undefined)
        db.create(className, record, ref);
      if (className !== "VTPM") continue;
      if (contents === undefined) state.vtpmSecrets.delete(ref);
      else state.vtpmSecrets.set(ref, contents);
    }
  // Relations of what was destroyed or created have written the other sides, too.
  for (let pass = 0; pass < 2; pass++) updateAll(db, restored);
  for (const [pool, record] of db.records("pool"))
    if (text(record, "master") !== master) db.update("pool", pool, { master });
}

function updateAll(
  db: Database,
  tables: readonly (readonly [
    string,
    DumpedTables extends ReadonlyMap<string, infer Rows> ? Rows : never,
  ])[],
): void {
  for (const [className, rows] of tables)
    for (const [ref, { record }] of rows) db.update(className, ref, record);
}
