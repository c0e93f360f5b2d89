import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type {
  HandlerContext,
  HandlerRequest,
  HandlerResponse,
  HttpHandler,
} from "../http-handler.js";
import { int, text } from "../records/fields.js";
import { withAttached } from "../operations/storage/control-domain-disks.js";
import { refreshVdi } from "../operations/effects/refresh.js";
import { takeSpace } from "../operations/storage/sr-space.js";
import { XapiFailure } from "../xapi-failure.js";
import type { XapiRecord } from "../xapi-value.js";
import { reportGrowth } from "../operations/storage/disk-data.js";
import { rawDisk } from "./disk-blocks.js";
import { exportHead } from "./export-handlers.js";
import { importHead, refuseChunked, targetSr } from "./import-handlers.js";
import { vhdFile } from "./vhd.js";
import { BadVhd, readVhd } from "./vhd-reader.js";

export const rawVdiHandlers: readonly HttpHandler[] = [
  {
    name: "get_export_raw_vdi",
    method: "GET",
    path: "/export_raw_vdi",
    handle: exportVdi,
  },
  {
    name: "put_import_raw_vdi",
    method: "PUT",
    path: "/import_raw_vdi",
    handle: importVdi,
  },
];

const contentTypes: Readonly<Record<string, string>> = {
  raw: "application/octet-stream",
  vhd: "application/vhd",
};

async function exportVdi(
  request: HandlerRequest,
  response: HandlerResponse,
  context: HandlerContext,
): Promise<void> {
  const { query } = request;
  const { clock, db, hostRef } = context;
  const ref = diskOf(query.get("vdi"), response, context);
  const format = query.get("format") ?? "raw";
  const type = contentTypes[format];
  if (type === undefined)
    throw new XapiFailure("INVALID_VALUE", ["format", format]);
  const named = query.get("base");
  const baseRef =
    named === null || format === "raw"
      ? undefined
      : diskOf(named, response, context);
  const base =
    baseRef === undefined ? {} : { base: text(db.get("VDI", baseRef), "uuid") };
  const contents = context.state.disks;
  const vdi = db.get("VDI", ref);
  const uuid = text(vdi, "uuid");
  const size = int(vdi, "virtual_size");
  const created = Math.floor(clock.now() / 1000);
  const bytes =
    format === "raw"
      ? rawDisk(contents, uuid)
      : vhdFile(contents, { uuid, size, created, ...base });
  const read = [ref, ...(baseRef === undefined ? [] : [baseRef])];
  await withAttached(
    db,
    hostRef,
    read.map((one) => ({ vdi: one, mode: "RO" })),
    () =>
      pipeline(
        Readable.from(bytes, { objectMode: true, highWaterMark: 1 }),
        response.start(exportHead(context, type)),
      ),
  );
}

/** @throws XapiFailure VDI_INCOMPATIBLE_TYPE: its data has been destroyed */
function diskOf(
  name: string | null,
  response: HandlerResponse,
  context: HandlerContext,
): string {
  const ref = vdiOf(name, response, context);
  const type = text(context.db.get("VDI", ref), "type");
  if (type === "cbt_metadata")
    throw new XapiFailure("VDI_INCOMPATIBLE_TYPE", [ref, type]);
  return ref;
}

async function importVdi(
  request: HandlerRequest,
  response: HandlerResponse,
  context: HandlerContext,
): Promise<void> {
  refuseChunked(request, response);
  const { query } = request;
  const named = query.get("vdi");
  if (named === null && !query.has("sr_id") && !query.has("sr_uuid")) {
    response.bare(400);
    throw new XapiFailure("VDI_MISSING", ["", ""]);
  }
  const ref =
    named === null
      ? createVdi(request, response, context)
      : vdiOf(named, response, context);
  const stream = response.start(importHead(context));
  try {
    await withAttached(
      context.db,
      context.hostRef,
      [{ vdi: ref, mode: "RW" }],
      () => receive(request, context, context.db.get("VDI", ref)),
    );
    if (named === null) context.task.result(`<value>${ref}</value>`);
  } finally {
    reportGrowth(context, ref);
    stream.end();
  }
}

/** Receives the contents of a disk. Data beyond its end is read and discarded. */
async function receive(
  request: HandlerRequest,
  context: HandlerContext,
  vdi: XapiRecord,
): Promise<void> {
  const [uuid, size] = [text(vdi, "uuid"), int(vdi, "virtual_size")];
  const contents = context.state.disks;
  const write = (offset: number, bytes: Buffer) => {
    contents.write(uuid, offset, bytes);
  };
  const body = counted(request, context, request.contentLength ?? size);
  if (request.query.get("format") === "vhd") {
    await readVhd(body, { size, write }).catch((error: unknown) => {
      throw error instanceof BadVhd
        ? new XapiFailure("VDI_IO_ERROR", [error.message])
        : error;
    });
    return;
  }
  let read = 0;
  for await (const chunk of body) {
    write(read, chunk);
    read += chunk.length;
  }
}

/** Reports the progress in tenths. @throws XapiFailure for a truncated body */
async function* counted(
  request: HandlerRequest,
  { task }: HandlerContext,
  total: number,
): AsyncGenerator<Buffer> {
  let read = 0;
  let reported = 0;
  for await (const chunk of request.body()) {
    read += chunk.length;
    yield chunk;
    if (read / total < reported + 0.1) continue;
    reported = read / total;
    task.progress(Math.min(0.95, reported));
  }
  if (read < (request.contentLength ?? 0))
    throw new XapiFailure("INTERNAL_ERROR", ["End_of_file"]);
}

/** A raw body with its length known makes the disk. */
function createVdi(
  { query, contentLength }: HandlerRequest,
  response: HandlerResponse,
  context: HandlerContext,
): string {
  if (contentLength === undefined || (query.get("format") ?? "raw") !== "raw") {
    response.bare(400);
    throw new XapiFailure("VDI_MISSING", ["", ""]);
  }
  const { db, random } = context;
  const SR = targetSr(query, context);
  takeSpace(context, SR, contentLength);
  const uuid = random.uuid();
  const vdi = db.create("VDI", {
    uuid,
    location: uuid,
    name_label: "Imported disk",
    SR,
    virtual_size: contentLength,
    physical_utilisation: contentLength,
    type: "user",
    managed: true,
  });
  context.state.disks.create(uuid, contentLength);
  refreshVdi(db, vdi);
  return vdi;
}

/** Finds the VDI by reference or uuid. Clients get an OCaml exception for an unknown one [rec 495]. */
function vdiOf(
  name: string | null,
  response: HandlerResponse,
  { db }: HandlerContext,
): string {
  if (name === null) {
    response.crash("Not_found");
    throw new XapiFailure("INTERNAL_ERROR", ["Not_found"]);
  }
  const ref =
    db.find("VDI", name) === undefined ? db.byUuid("VDI", name) : name;
  if (ref === undefined) {
    response.crash(`Db_exn.Read_missing_uuid("VDI", "", "${name}")`);
    throw new XapiFailure("HANDLE_INVALID", ["VDI", name]);
  }
  return ref;
}
