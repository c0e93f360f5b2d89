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
import { refIn, text } from "../operations/fields.js";
import { refreshVbd, refreshVm } from "../operations/refresh.js";
import { XapiFailure } from "../xapi-failure.js";
import type { XapiRecord } from "../xapi-value.js";
import { mapRefs, readOva, type OvaObject } from "./ova.js";
import { readTar } from "./tar.js";

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

/** The header goes out before the body is read: what goes wrong afterwards is told in the task only. */
async function importVm(
  request: HandlerRequest,
  response: HandlerResponse,
  context: HandlerContext,
  { disks }: { disks: boolean },
): Promise<void> {
  refuseChunked(request, response);
  const sr = disks ? targetSr(request.query, context) : NULL_REF;
  const stream = response.start(importHead(context));
  try {
    const objects = await readObjects(request);
    const vms = createAll(context, objects, {
      sr,
      restore: request.query.get("restore") === "true",
    });
    context.task.result(
      `<value><array><data>${vms.map((vm) => `<value>${vm}</value>`).join("")}</data></array></value>`,
    );
  } finally {
    stream.end();
  }
}

/** The head that goes out before an import has read anything. */
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

async function readObjects(
  request: HandlerRequest,
): Promise<readonly OvaObject[]> {
  let objects: readonly OvaObject[] | undefined;
  try {
    for await (const { name, content } of readTar(
      plain(request.body()),
      OVA_LIMIT,
    ))
      if (name === "ova.xml" && content !== undefined)
        objects = readOva(content.toString());
  } catch (error) {
    throw new XapiFailure("IMPORT_ERROR", [
      error instanceof Error ? error.message : String(error),
    ]);
  }
  if (objects === undefined)
    throw new XapiFailure("IMPORT_ERROR_PREMATURE_EOF");
  return objects;
}

/** Unpacks what begins as gzip does. */
async function* plain(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const chunks = body[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done === true) return;
  const all = (async function* () {
    yield first.value;
    for (
      let next = await chunks.next();
      next.done !== true;
      next = await chunks.next()
    )
      yield next.value;
  })();
  if (first.value[0] !== 0x1f || first.value[1] !== 0x8b) yield* all;
  else yield* Readable.from(all).pipe(createGunzip()) as AsyncIterable<Buffer>;
}

interface ImportPlace {
  readonly sr: string;
  /** The VM keeps its uuid and MAC addresses. */
  readonly restore: boolean;
}

/** Makes VMs, disks, VBDs and VIFs with new references. Networks are found by uuid or name, else the first is taken. */
function createAll(
  context: HandlerContext,
  objects: readonly OvaObject[],
  place: ImportPlace,
): readonly string[] {
  const { db } = context;
  const refs = new Map<string, string>();
  for (const object of objects) {
    if (object.className === "network")
      refs.set(object.id, networkFor(context, object.record));
    else if (made.has(object.className)) refs.set(object.id, db.newRef());
  }
  const vms = [];
  for (const object of objects) {
    const ref = refs.get(object.id);
    if (ref === undefined || !made.has(object.className)) continue;
    const record = mapRefs(
      object.className,
      object.record,
      (id) => refs.get(id) ?? NULL_REF,
    );
    db.create(object.className, adjusted(object, record, place), ref);
    if (object.className === "VM") vms.push(ref);
  }
  for (const vm of vms) refreshVm(db, vm);
  for (const { className, id } of objects)
    if (className === "VBD") refreshVbd(db, refs.get(id)!);
  return vms;
}

const made = new Set([
  "VM",
  "VM_metrics",
  "VM_guest_metrics",
  "VBD",
  "VDI",
  "VIF",
]);

function networkFor({ db }: HandlerContext, network: XapiRecord): string {
  const same = db.byUuid("network", text(network, "uuid"));
  if (same !== undefined) return same;
  for (const [ref, record] of db.records("network"))
    if (record["name_label"] === network["name_label"]) return ref;
  const [first] = db.refs("network");
  return first ?? NULL_REF;
}

/** What an imported object has otherwise than the exported one. */
function adjusted(
  { className }: OvaObject,
  record: XapiRecord,
  { sr, restore }: ImportPlace,
): XapiRecord {
  const { uuid, ...rest } = record;
  const kept =
    restore && className === "VM" && uuid !== undefined
      ? { ...rest, uuid }
      : rest;
  switch (className) {
    case "VM":
      return {
        ...kept,
        ...onItsOwn(kept),
        power_state: "Halted",
        resident_on: NULL_REF,
        domid: -1,
        current_operations: {},
        consoles: [],
      };
    case "VDI":
      return {
        ...kept,
        ...onItsOwn(kept),
        SR: sr,
        managed: true,
        VBDs: [],
        snapshots: [],
        current_operations: {},
      };
    case "VBD":
    case "VIF":
      return { ...kept, currently_attached: false, current_operations: {} };
    default:
      return kept;
  }
}

/** What was a snapshot of something that did not come along is one no longer (from memory of XAPI). */
function onItsOwn(record: XapiRecord): XapiRecord {
  return record["snapshot_of"] === NULL_REF ? { is_a_snapshot: false } : {};
}
