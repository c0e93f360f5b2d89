import { createGunzip } from "node:zlib";
import { Readable } from "node:stream";
import { NULL_REF } from "@xo-server/model";
import type {
  HandlerContext,
  HandlerHead,
  HandlerRequest,
  HandlerResponse,
  HttpHandler,
} from "../http-handler.js";
import { refIn } from "../records/fields.js";
import { XapiFailure } from "../xapi-failure.js";
import { ArchiveTruncated, readTar } from "./tar.js";
import { XvaImport } from "./xva-import.js";
import { unpackZstd, ZSTD_MAGIC } from "./zstd.js";

/** ova.xml is some 10 kB for each object. */
const OVA_LIMIT = 64 * 2 ** 20;

export const importHandlers: readonly HttpHandler[] = [
  {
    name: "put_import",
    method: "PUT",
    path: "/import",
    handle: (...args) => importVm(...args, { disks: true }),
  },
  {
    name: "put_import_metadata",
    method: "PUT",
    path: "/import_metadata",
    handle: (...args) => importVm(...args, { disks: false }),
  },
];

/** The header is sent before the body is read: later errors are reported in the task only. */
async function importVm(
  request: HandlerRequest,
  response: HandlerResponse,
  context: HandlerContext,
  { disks }: { disks: boolean },
): Promise<void> {
  refuseChunked(request, response);
  const { query } = request;
  const sr = disks ? targetSr(query, context) : NULL_REF;
  const stream = response.start(importHead(context));
  const archive = new XvaImport(context, {
    restore: query.get("restore") === "true",
    force: query.get("force") === "true",
    disks: disks ? { sr } : { existing: disksNamed(query) },
  });
  let isUnread = false;
  try {
    isUnread = await receive(request, archive);
    if (context.task.signal.aborted)
      throw new XapiFailure("TASK_CANCELLED", [context.task.ref]);
    const vms = archive.finish();
    if (query.get("dry_run") === "true") archive.undo();
    context.task.result(
      `<value><array><data>${vms.map((vm) => `<value>${vm}</value>`).join("")}</data></array></value>`,
    );
  } catch (error) {
    archive.undo();
    throw error;
  } finally {
    if (isUnread) response.endUnread();
    else stream.end();
  }
}

/** `vdi:<uuid in the archive>=<uuid or reference here>` */
function disksNamed(query: URLSearchParams): ReadonlyMap<string, string> {
  return new Map(
    [...query]
      .filter(([name]) => name.startsWith("vdi:"))
      .map(([name, value]) => [name.slice("vdi:".length), value]),
  );
}

/** The header that is sent before an import has read anything. */
export function importHead({ task }: HandlerContext): HandlerHead {
  return {
    version: "1.1",
    headers: [
      ["Connection", "close"],
      ["Cache-Control", "no-cache, no-store"],
      ["task-id", task.ref],
      ["content-type", "application/octet-stream"],
    ],
  };
}

/** @throws XapiFailure after the 403 of the HTTP layer */
export function refuseChunked(
  { headers }: HandlerRequest,
  response: HandlerResponse,
): void {
  if (!/chunked/i.test(headers.get("transfer-encoding") ?? "")) return;
  response.bare(403);
  throw new XapiFailure("IMPORT_ERROR_CANNOT_HANDLE_CHUNKED");
}

/** `sr_id` is a reference; without any it is the pool's default. */
export function targetSr(
  query: URLSearchParams,
  { db, pool }: HandlerContext,
): string {
  const ref = query.get("sr_id");
  const uuid = query.get("sr_uuid");
  if (ref !== null) {
    db.get("SR", ref);
    return ref;
  }
  if (uuid !== null) {
    const found = db.byUuid("SR", uuid);
    if (found === undefined)
      throw new XapiFailure("UUID_INVALID", ["SR", uuid]);
    return found;
  }
  const sr = refIn(db.get("pool", pool.poolRef), "default_SR");
  if (sr === undefined || db.find("SR", sr) === undefined)
    throw new XapiFailure("DEFAULT_SR_NOT_FOUND", [sr ?? NULL_REF]);
  return sr;
}

/**
 * XAPI itself reads an archive up to the padding after the last file; the program
 * that unpacks a compressed one reads to the end.
 * @returns whether bytes of the request are unread
 * @throws XapiFailure for an invalid or incomplete archive
 */
async function receive(
  request: HandlerRequest,
  archive: XvaImport,
): Promise<boolean> {
  try {
    const { isPacked, bytes } = await unpack(request.body());
    for await (const file of readTar(bytes, OVA_LIMIT)) archive.take(file);
    const rest = bytes[Symbol.asyncIterator]();
    while (isPacked && (await rest.next()).done !== true) continue;
    return !isPacked;
  } catch (error) {
    if (error instanceof XapiFailure) throw error;
    throw error instanceof ArchiveTruncated
      ? new XapiFailure("IMPORT_ERROR_PREMATURE_EOF")
      : new XapiFailure("IMPORT_ERROR", [
          error instanceof Error ? error.message : String(error),
        ]);
  }
}

/** Unpacks what begins as gzip or zstd does. */
async function unpack(body: AsyncIterable<Buffer>): Promise<{
  readonly isPacked: boolean;
  readonly bytes: AsyncIterable<Buffer>;
}> {
  const chunks = body[Symbol.asyncIterator]();
  const first = await chunks.next();
  const all = (async function* () {
    for (let next = first; next.done !== true; next = await chunks.next())
      yield next.value;
  })();
  if (first.done === true) return { isPacked: false, bytes: all };
  const isZstd =
    first.value.length >= 4 && first.value.readUInt32LE() === ZSTD_MAGIC;
  if (isZstd) return { isPacked: true, bytes: unpackZstd(all) };
  if (first.value[0] !== 0x1f || first.value[1] !== 0x8b)
    return { isPacked: false, bytes: all };
  const plain = Readable.from(all).pipe(createGunzip());
  return { isPacked: true, bytes: plain as AsyncIterable<Buffer> };
}
