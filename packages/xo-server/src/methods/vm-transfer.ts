import { finished } from "node:stream";
import { XoError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import { Type } from "typebox";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import { defineOperation, type OperationContext } from "./define-operation.js";
import type { Source, TransferTask } from "../transfers/transfer.js";
import {
  openXapiStream,
  sendToXapi,
  type Handler,
} from "../transfers/xapi-streams.js";
import { checkXva } from "../transfers/xva.js";
import {
  dropExportSnapshot,
  takeExportSnapshot,
} from "../vms/export-snapshot.js";
import { SET_KEY } from "../vms/resource-sets.js";
import { markSet } from "../vms/set-mark.js";
import { readRecord } from "../vms/xapi-records.js";
import {
  about,
  checksum,
  failInterrupted,
  getFrom,
  nameOf,
  sendTo,
} from "./disk-transfer.js";
import { idOf, idOfMade, onId } from "./on-object.js";

const compressions = ["true", "false", "", "gzip", "zstd"] as const;

const folders = {
  vms: "ExportVm",
  "vm-snapshots": "ExportVmSnapshot",
  "vm-templates": "ExportVmTemplate",
};

export const vmExport = defineOperation({
  name: "vm.export",
  summary:
    "Export a VM, snapshot or template with its disks as XVA. Returns the path of the download. A running VM is exported from a temporary snapshot.",
  params: Type.Object({
    id: idOf("a VM, a snapshot or a template"),
    compress: Type.Optional(
      Type.Union([Type.Boolean(), Type.Enum([...compressions])], {
        description: "true: gzip compression.",
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
    const asked = {
      query: { use_compression: toCompression(compress) },
      label: subject.name,
    };
    return context.services.transfers.offerDownload(subject, async (work) => ({
      type: "application/octet-stream",
      ...(RUNS.has(String(vm.object["power_state"]))
        ? await openRunning(vm, asked, work)
        : await openVm(vm, asked, work)),
    }));
  },
});

export const vmImport = defineOperation({
  name: "vm.import",
  summary:
    "Import an XVA file as a new VM. Returns the path of the upload. Requires administrate:import-vm on the pool too.",
  params: Type.Object({
    sr: idOf("the SR for its disks"),
    type: Type.Optional(
      Type.Enum(["xva"], { description: "Format of the file." }),
    ),
    data: Type.Optional(
      Type.Object({}, { description: "Accepted and ignored for XVA." }),
    ),
  }),
  result: sendTo,
  resume: failInterrupted,
  permission: {
    action: "administrate:create-vdi",
    resource: "SR",
    id: ({ sr }) => sr,
  },
  handler: ({ sr }, context) => {
    const storage = context.objects.get(sr, "SR");
    const poolId = String(storage.object["$pool"]);
    context.check("administrate:import-vm", "pool", poolId);
    const pool = context.objects.get(poolId, "pool");
    const place = { operation: "vm.import", pool, storage };
    return offerImport(context, place);
  },
});

export const poolImportVm = defineOperation({
  name: "pool.importVm",
  summary: "Import an XVA file as a new VM. Returns the path of the upload.",
  params: Type.Object({
    id: idOf("a pool"),
    sr: Type.Optional(idOf("an SR; default: the default SR of the pool")),
  }),
  result: sendTo,
  resume: failInterrupted,
  permission: onId("administrate:import-vm", "pool"),
  rest: {
    method: "post",
    path: "/pools/{id}/vms",
    creates: "vms",
    operationId: "ImportVm",
    isTransfer: true,
    status: 201,
    exposure: "confirm",
    summary: "Import an XVA file as a new VM.",
  },
  handler: ({ id, sr }, context) => {
    const pool = context.objects.get(id, "pool");
    const target = sr ?? (pool.object["default_SR"] as string | undefined);
    if (target === undefined)
      throw new XoError("INVALID_PARAMETERS", {
        reason: "the pool has no default SR: specify one",
      });
    context.check("administrate:create-vdi", "SR", target);
    const storage = context.objects.get(target, "SR");
    const place = { operation: "pool.importVm", pool, storage };
    return offerImport(context, place);
  },
});

/** Power states in which XAPI cannot export a VM, so that a snapshot is exported. */
const RUNS: ReadonlySet<string> = new Set(["Running", "Paused"]);

type Asked = Omit<Handler, "path">;

function openVm(
  { xapi, ref }: Pick<PoolObject, "xapi" | "ref">,
  { query, label }: Asked,
  work: TransferTask,
): Promise<Omit<Source, "type">> {
  const handler = { path: "/export", query: { ...query, ref }, label };
  return openXapiStream(xapi, handler, work);
}

/** The temporary snapshot is deleted when the export has ended, also after a failure. */
async function openRunning(
  vm: PoolObject,
  asked: Asked,
  work: TransferTask,
): Promise<Omit<Source, "type">> {
  const { xapi } = vm;
  const ref = await takeExportSnapshot(xapi, vm.ref);
  const drop = () => dropExportSnapshot(xapi, ref);
  try {
    await work.persistState({ vm: vm.id, snapshot: ref });
    const source = await openVm({ xapi, ref }, asked, work);
    finished(source.body, () => {
      // The response has ended, so nobody can be notified: the snapshot remains in
      // the list of the VM.
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
  /** Absent: no snapshot has been created. */
  readonly snapshot?: Ref;
}

async function dropKept(
  objects: PoolObjects,
  { vm, snapshot }: KeptSnapshot,
): Promise<void> {
  if (vm === undefined || snapshot === undefined) return;
  const { xapi } = objects.get(vm, "VM");
  await dropExportSnapshot(xapi, snapshot);
}

function toCompression(compress: boolean | string): string {
  if (compress === true || compress === "gzip") return "true";
  if (compress === false || compress === "") return "false";
  return compress;
}

interface Place {
  readonly operation: string;
  readonly pool: PoolObject;
  readonly storage: PoolObject;
}

function offerImport(
  context: OperationContext,
  { operation, pool, storage }: Place,
): Promise<{ $sendTo: string }> {
  const { objects } = context;
  const { transfers } = context.services;
  const label = `Import of a VM to ${nameOf(storage)}`;
  const subject = {
    ...about(operation, label, pool),
    params: { sr: storage.id },
    context,
  };
  const { xapi, ref } = storage;
  return transfers.offerUpload(subject, async (delivery, work) => {
    if (storage.object["$pool"] !== pool.id)
      throw new XoError("NO_SUCH_OBJECT", { type: "SR", id: storage.id });
    await checkXva(delivery.body);
    const created = await sendToXapi(
      xapi,
      {
        ...delivery,
        path: "/import",
        query: { sr_id: ref },
        label,
        resultType: "VM ref set",
      },
      work,
    );
    if (context.user?.isAdmin !== true) await leaveSets(xapi, created as Ref[]);
    return idOfFirst(objects, xapi, created as readonly Ref[]);
  });
}

/** An imported file may name any resource set, which has not accounted for the VM. */
async function leaveSets(xapi: Xapi, vms: readonly Ref[]): Promise<void> {
  for (const vm of vms) {
    const { other_config, snapshots } = await readRecord(xapi, "VM", vm);
    if (Object.hasOwn(other_config, SET_KEY))
      await markSet(xapi, vm, undefined);
    await leaveSets(xapi, snapshots);
  }
}

async function idOfFirst(
  objects: PoolObjects,
  xapi: Xapi,
  [ref]: readonly Ref[],
): Promise<string> {
  const isTemplate = await xapi.call("VM.get_is_a_template", [ref]);
  const type = isTemplate === true ? "VM-template" : "VM";
  return idOfMade(objects, xapi, { type, ref });
}

/** Export and import of whole VMs as XVA. */
export const vmTransferOperations = [vmExport, vmImport, poolImportVm];
