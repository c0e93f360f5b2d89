import { finished } from "node:stream";
import type { Ref } from "@xo-server/model";
import { Type } from "typebox";
import type { PoolObject, PoolObjects } from "../../objects/pool-objects.js";
import { defineOperation } from "../definition/define-operation.js";
import type { Source, TransferTask } from "../../transfers/transfer.js";
import { openXapiStream, type Handler } from "../../transfers/xapi-streams.js";
import {
  dropExportSnapshot,
  dropMarkedSnapshot,
  newExportMark,
  prepareExportSnapshot,
  takeExportSnapshot,
} from "../../vms/export-snapshot.js";
import {
  about,
  checksum,
  failInterrupted,
  getFrom,
  nameOf,
} from "../storage/disk-transfer.js";
import { idOf, onId } from "../definition/on-object.js";

const compressions = ["true", "false", "", "gzip", "zstd"] as const;

const folders = {
  vms: "ExportVm",
  "vm-snapshots": "ExportVmSnapshot",
  "vm-templates": "ExportVmTemplate",
};

const vmExport = defineOperation({
  name: "vm.export",
  summary:
    "Export a VM, snapshot or template with its disks as XVA. Returns the path of the download. A running VM is exported from a temporary snapshot.",
  params: Type.Object({
    id: idOf("a VM, a snapshot or a template"),
    compress: Type.Optional(
      Type.Union([Type.Boolean(), Type.Enum([...compressions])], {
        description:
          "Compression of the XVA: gzip or zstd; true is gzip, false and the empty string none. Default: none.",
      }),
    ),
    format: Type.Optional(
      Type.Enum(["xva"], { description: "Format of the export." }),
    ),
    checksum,
  }),
  result: getFrom,
  resume: async (kept: KeptSnapshot, { objects }) => {
    await dropKept(objects, kept);
    return failInterrupted();
  },
  abandon: (kept: KeptSnapshot, { objects }) => dropKept(objects, kept),
  permission: onId("administrate:export", "*"),
  rest: Object.entries(folders).map(([folder, operationId]) => ({
    method: "get",
    path: `/${folder}/{id}.{format}`,
    operationId,
    isTransfer: true,
    summary: "Export the object with its disks as XVA.",
  })),
  handler: ({ id, compress = false, checksum }, context) => {
    const vm = context.objects.get(id, "VM", "VM-snapshot", "VM-template");
    const fileName = `${nameOf(vm)}.xva`;
    const subject = {
      ...about("vm.export", `Export of ${fileName}`, vm),
      params: { id, compress },
      context,
      fileName,
      hasChecksum: checksum !== undefined,
    };
    const request = {
      query: { use_compression: toCompression(compress) },
      label: subject.name,
    };
    return context.services.transfers.offerDownload(subject, async (work) => ({
      type: "application/octet-stream",
      ...(RUNS.has(String(vm.object["power_state"]))
        ? await openRunning(vm, request, work)
        : await openVm(vm, request, work)),
    }));
  },
});

/** Power states in which XAPI does not export a VM: a snapshot of it is exported. */
const RUNS: ReadonlySet<string> = new Set(["Running", "Paused"]);

type ExportRequest = Omit<Handler, "path">;

function openVm(
  { xapi, ref }: Pick<PoolObject, "xapi" | "ref">,
  { query, label }: ExportRequest,
  work: TransferTask,
): Promise<Omit<Source, "type">> {
  const handler = { path: "/export", query: { ...query, ref }, label };
  return openXapiStream(xapi, handler, work);
}

/** The temporary snapshot is deleted when the export has ended, also after a failure. */
async function openRunning(
  vm: PoolObject,
  request: ExportRequest,
  work: TransferTask,
): Promise<Omit<Source, "type">> {
  const { xapi } = vm;
  const mark = newExportMark();
  await work.persistState({ vm: vm.id, mark } satisfies KeptSnapshot);
  const ref = await takeExportSnapshot(xapi, vm.ref, mark);
  const drop = () => dropExportSnapshot(xapi, ref);
  try {
    await work.persistState({
      vm: vm.id,
      snapshot: ref,
    } satisfies KeptSnapshot);
    await prepareExportSnapshot(xapi, vm.ref, ref);
    const source = await openVm({ xapi, ref }, request, work);
    finished(source.body, () => {
      // The response has ended, so that a failure cannot be reported; the user sees the snapshot in the list of the VM.
      drop().catch(() => undefined);
    });
    return source;
  } catch (error) {
    await drop();
    throw error;
  }
}

interface KeptSnapshot {
  readonly vm?: string;
  /** Of a snapshot that may have been created. */
  readonly mark?: string;
  readonly snapshot?: Ref;
}

async function dropKept(
  objects: PoolObjects,
  { vm, mark, snapshot }: KeptSnapshot,
): Promise<void> {
  if (vm === undefined) return;
  const { xapi, ref } = objects.get(vm, "VM");
  if (snapshot !== undefined) await dropExportSnapshot(xapi, snapshot);
  else if (mark !== undefined) await dropMarkedSnapshot(xapi, ref, mark);
}

function toCompression(compress: boolean | string): string {
  if (compress === true || compress === "gzip") return "true";
  if (compress === false || compress === "") return "false";
  return compress;
}

/** Exports of VMs as XVA. */
export const vmTransferOperations = [vmExport];
