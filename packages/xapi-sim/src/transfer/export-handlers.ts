import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type {
  HandlerContext,
  HandlerRequest,
  HandlerResponse,
  HttpHandler,
} from "../http-handler.js";
import { flag, refIn, refs, text } from "../records/fields.js";
import { assertNotBlocked } from "../operations/effects/blocked-operations.js";
import { whileBusy } from "../operations/effects/busy.js";
import { assertVmMay } from "../operations/vm/vm-checks.js";
import { diskBlock, exportedBlocks, isZero } from "./disk-blocks.js";
import { locationOn } from "../rrd/rrd-handlers.js";
import { XapiFailure } from "../xapi-failure.js";
import { collectObjects, writeOva } from "./ova.js";
import { createZstdPacker } from "./zstd.js";
import { checksumKind, checksumOf } from "./xva-checksums.js";
import { tarEnd, tarHeader, tarPadding } from "./tar.js";

export const exportHandlers: readonly HttpHandler[] = [
  { name: "get_export", method: "GET", path: "/export", handle: exportVm },
  {
    name: "get_export_metadata",
    method: "GET",
    path: "/export_metadata",
    handle: exportMetadata,
  },
];

/** Head of all exports: always HTTP/1.0, the end of the connection is the end of the archive. */
export function exportHead(
  { task }: HandlerContext,
  type: string,
  more: readonly (readonly [string, string])[] = [],
) {
  return {
    version: "1.0" as const,
    headers: [
      ["Connection", "close"],
      ["Cache-Control", "no-cache, no-store"],
      ["task-id", task.ref],
      ["Server", "xapi/25.6.0"],
      ["content-type", type],
      ...more,
    ] as const,
  };
}

const ATTACHMENT = [
  "Content-Disposition",
  'attachment; filename="export.xva"',
] as const;

async function exportVm(
  request: HandlerRequest,
  response: HandlerResponse,
  context: HandlerContext,
): Promise<void> {
  const vm = vmOf(request, response, context);
  const elsewhere = hostElsewhere(context, vm);
  if (elsewhere !== undefined) {
    response.bare(302, [["Location", locationOn(elsewhere, request)]]);
    return;
  }
  assertVmMay(context.db, vm, "export");
  const compression = request.query.get("use_compression") ?? "false";
  await whileBusy(context, { className: "VM", ref: vm }, "export", async () => {
    const stream = response.start(
      exportHead(context, "application/octet-stream", [ATTACHMENT]),
    );
    const archive = Readable.from(archiveOf(context, vm), {
      objectMode: true,
      highWaterMark: 1,
    });
    if (compression === "zstd")
      await pipeline(archive, createZstdPacker(), stream);
    else if (compression === "true" || compression === "gzip")
      await pipeline(archive, createGzip(), stream);
    else await pipeline(archive, stream);
  });
}

/** ova.xml, then of each disk a directory of MiBs with a checksum each. */
function* archiveOf(context: HandlerContext, vm: string): Generator<Buffer> {
  const { db, state, clock, task } = context;
  const now = Math.floor(clock.now() / 1000);
  const ova = Buffer.from(writeOva(context, [vm]));
  yield* file("ova.xml", ova, now);
  const disks = collectObjects(db, [vm])
    .map(([className, ref], i) => ({ className, ref, id: `Ref:${i}` }))
    .filter(
      ({ className, ref }) => className === "VDI" && isDiskOf(db, vm, ref),
    );
  const contents = state.disks;
  const kind = checksumKind(db, context.hostRef);
  for (const [index, { ref, id }] of disks.entries()) {
    const vdi = db.get("VDI", ref);
    const uuid = text(vdi, "uuid");
    const blocks = exportedBlocks(contents, uuid);
    for (const block of blocks) {
      const name = `${id}/${String(block).padStart(8, "0")}`;
      const data = diskBlock(contents, uuid, block);
      const isEnd = block === 0 || block === blocks.at(-1);
      if (!isEnd && isZero(data)) continue;
      yield* file(name, data, now);
      const sum = Buffer.from(checksumOf(kind, data));
      yield* file(`${name}.${kind}`, sum, now);
    }
    task.progress((index + 1) / disks.length);
  }
  yield tarEnd;
}

/** Images in CD drives are named in ova.xml but not carried along. */
function isDiskOf(db: HandlerContext["db"], vm: string, vdi: string): boolean {
  return refs(db.get("VDI", vdi), "VBDs").some((ref) => {
    const vbd = db.get("VBD", ref);
    return text(vbd, "VM") === vm && text(vbd, "type") === "Disk";
  });
}

function* file(name: string, content: Buffer, now: number): Generator<Buffer> {
  yield tarHeader(name, content.length, now);
  yield content;
  yield tarPadding(content.length);
}

/**
 * Exports the metadata of one VM, or with `all=true` of all VMs except control domains and
 * default templates.
 */
function exportMetadata(
  request: HandlerRequest,
  response: HandlerResponse,
  context: HandlerContext,
): void {
  const vms = withSnapshots(request, context, [
    ...(request.query.get("all") === "true"
      ? allVms(request, context)
      : [vmOf(request, response, context)]),
  ]);
  for (const vm of vms) assertNotBlocked(context.db, vm, "metadata_export");
  const now = Math.floor(context.clock.now() / 1000);
  const body = Buffer.concat([
    ...file("ova.xml", Buffer.from(writeOva(context, vms)), now),
    tarEnd,
  ]);
  response
    .start(
      exportHead(context, "application/octet-stream", [
        ["Content-Length", String(body.length)],
        ATTACHMENT,
      ]),
    )
    .end(body);
}

function* allVms(
  { query }: HandlerRequest,
  { db }: HandlerContext,
): Generator<string> {
  const withControlDomains = query.get("include_dom0") === "true";
  for (const [ref, vm] of db.records("VM")) {
    const isControlDomain = flag(vm, "is_control_domain");
    const isOther =
      flag(vm, "is_default_template") || flag(vm, "is_a_snapshot");
    if (isControlDomain ? withControlDomains : !isOther) yield ref;
  }
}

/** Each VM with its snapshots, unless the request says otherwise. */
function withSnapshots(
  { query }: HandlerRequest,
  { db }: HandlerContext,
  vms: readonly string[],
): readonly string[] {
  if (query.get("export_snapshots") === "false") return vms;
  return vms.flatMap((vm) => [vm, ...refs(db.get("VM", vm), "snapshots")]);
}

/**
 * Finds the VM by uuid or reference. XAPI's errors for unknown ones differ from case to case
 * [rec 402 497 498].
 */
function vmOf(
  { query }: HandlerRequest,
  response: HandlerResponse,
  { db }: HandlerContext,
): string {
  const uuid = query.get("uuid");
  const ref = query.get("ref");
  if (uuid !== null) {
    const found = db.byUuid("VM", uuid);
    if (found === undefined)
      throw new XapiFailure("UUID_INVALID", ["VM", uuid]);
    return found;
  }
  if (ref === null) {
    response.crash("Not_found");
    throw new XapiFailure("INTERNAL_ERROR", ["Not_found"]);
  }
  if (db.find("VM", ref) === undefined) {
    response.raw("").end();
    throw new XapiFailure("HANDLE_INVALID", ["VM", ref]);
  }
  return ref;
}

/** Address of a host that sees the VM's disks where this one does not. */
function hostElsewhere(
  { db, hostRef, pool }: HandlerContext,
  vm: string,
): string | undefined {
  const srs = refs(db.get("VM", vm), "VBDs")
    .map((vbd) => refIn(db.get("VBD", vbd), "VDI"))
    .flatMap((vdi) =>
      vdi === undefined ? [] : [text(db.get("VDI", vdi), "SR")],
    );
  const sees = (host: string) => {
    const reached = refs(db.get("host", host), "PBDs").map((pbd) =>
      text(db.get("PBD", pbd), "SR"),
    );
    return srs.every((sr) => reached.includes(sr));
  };
  if (sees(hostRef)) return undefined;
  const other = [...db.refs("host")].find(
    (host) => sees(host) && pool.addressOf(host) !== undefined,
  );
  return other === undefined ? undefined : pool.addressOf(other);
}
