import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import type { PoolObject, PoolObjects } from "../../objects/pool-objects.js";
import type { AbandonedTask } from "../../operations/operation.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { openConvertedDisk } from "../../imports/convert-disk.js";
import {
  checkFits,
  receiveDisk,
  removeDisk,
  type KeptDisk,
} from "../../transfers/new-disk.js";
import {
  toKnownFormat,
  type IncomingFormat,
} from "../../imports/known-format.js";
import type { Delivery, TransferTask } from "../../transfers/transfer.js";
import { openXapiStream, sendToXapi } from "../../transfers/xapi-streams.js";
import { createDisk } from "./disk.js";
import { receiveFile, sendTo, sendToOrId, sourceUrl } from "./receive-file.js";
import { idOf, idOfMade, onId } from "../definition/on-object.js";

/** Path from which the client downloads the contents. */
export const getFrom = Type.Object({ $getFrom: Type.String() });

const format = Type.Enum(["raw", "vhd", "qcow2", "vmdk", "vhdx"], {
  description:
    "Format of the data. qcow2, VMDK and VHDX images are recognized by their content, whatever the format is. Default: vhd.",
});

const exportFormat = Type.Enum(["raw", "vhd", "qcow2", "vmdk"], {
  description:
    "Format of the data; vmdk is streamOptimized. XAPI exports raw and VHD, a worker process of the server converts VHD to the others. Default: vhd.",
});

/** Whether a trailer contains the checksum of the bytes. */
export const checksum = Type.Optional(
  Type.Enum(["sha256"], {
    description:
      "Computes the SHA-256 checksum of the data and returns it in the trailer `Repr-Digest` and in the task.",
  }),
);

const anyContent = Type.Optional(
  Type.Union([Type.Boolean(), Type.Enum(["true", "false", ""])], {
    description:
      "Raw data that is recognized as a qcow2, VMDK, VHD, VHDX or VirtualBox image becomes the contents of the disk as it is. Default: qcow2, VMDK and VHDX are converted, others refused.",
  }),
);

const types = {
  raw: "application/octet-stream",
  vhd: "application/vhd",
  qcow2: "application/x-qemu-disk",
  vmdk: "application/x-vmdk",
};

const diskExportContent = defineOperation({
  name: "disk.exportContent",
  summary: "Export the contents of a disk. Returns the path of the download.",
  params: Type.Object({
    id: idOf("a disk"),
    format: Type.Optional(exportFormat),
    preferNbd: Type.Optional(
      Type.Boolean({
        description: "Ignored. Clients of Xen Orchestra send it.",
      }),
    ),
    nbdConcurrency: Type.Optional(
      Type.Number({
        description: "Ignored. Clients of Xen Orchestra send it.",
      }),
    ),
    checksum,
  }),
  result: getFrom,
  resume: failInterrupted,
  permission: onId("administrate:export", "*"),
  rest: [
    {
      method: "get",
      path: "/vdis/{id}.{format}",
      operationId: "ExportVdiContent",
      isTransfer: true,
      summary: "Export the contents of a disk.",
    },
    {
      method: "get",
      path: "/vdi-snapshots/{id}.{format}",
      operationId: "ExportVdiSnapshotContent",
      isTransfer: true,
      summary: "Export the contents of a disk snapshot.",
    },
  ],
  handler: ({ id, format = "vhd", checksum }, context) => {
    const vdi = context.objects.get(id, "VDI", "VDI-snapshot", "VDI-unmanaged");
    const { xapi, ref, object } = vdi;
    const fileName = `${nameOf(vdi)}.${format}`;
    const subject = {
      ...about("disk.exportContent", `Export of ${fileName}`, vdi),
      params: { id, format },
      context,
      fileName,
      hasChecksum: checksum !== undefined,
    };
    const { transfers, backupWorkers } = context.services;
    return transfers.offerDownload(subject, async (work) => ({
      type: types[format],
      ...(format === "raw" ? { length: Number(object["size"]) } : {}),
      // A snapshot never changes, so neither does its raw export.
      ...(format === "raw" && vdi.type === "VDI-snapshot"
        ? { etag: `"${vdi.id}.raw"` }
        : {}),
      ...(format === "qcow2" || format === "vmdk"
        ? await openConvertedDisk(
            { vdi, format, label: subject.name },
            backupWorkers,
            work,
          )
        : await openXapiStream(
            xapi,
            {
              path: "/export_raw_vdi",
              query: { vdi: ref, format },
              label: subject.name,
            },
            work,
          )),
    }));
  },
});

const diskImportContent = defineOperation({
  name: "disk.importContent",
  summary:
    "Overwrite the contents of a disk with an upload. Returns the path of the upload. If the upload is interrupted, the disk is partly overwritten.",
  params: Type.Object({
    id: idOf("a disk"),
    format: Type.Optional(format),
    anyContent,
  }),
  result: sendTo,
  resume: () => {
    throw new XoError("INTERRUPTED", {
      reason: "the disk is partly overwritten",
    });
  },
  permission: onId("administrate:import-content", "VDI"),
  rest: {
    method: "put",
    path: "/vdis/{id}.{format}",
    operationId: "ImportVdiContent",
    isTransfer: true,
    status: 204,
    summary: "Overwrite the contents of a disk with the body of the request.",
  },
  handler: ({ id, format = "vhd", anyContent }, context) => {
    const vdi = context.objects.get(id, "VDI");
    const label = `Import of ${nameOf(vdi)}`;
    const subject = {
      ...about("disk.importContent", label, vdi),
      params: { id, format },
      context,
    };
    return context.services.transfers.offerUpload(
      subject,
      async (upload, work) => {
        const isRaw = isSet(anyContent);
        const { finished, ...delivery } = await toKnownFormat(
          upload,
          { format, isRaw, result: "raw" },
          { images: context.services.diskImages, work },
        );
        await checkFits(delivery.format, delivery, Number(vdi.object["size"]));
        const query = { vdi: vdi.ref, format: delivery.format };
        const path = "/import_raw_vdi";
        await sendToXapi(vdi.xapi, { ...delivery, path, query, label }, work);
        await finished?.();
        return true;
      },
    );
  },
});

const contentOperations = [diskExportContent, diskImportContent];

interface ImportInput {
  readonly operation: string;
  readonly sr: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly format: IncomingFormat["format"];
  readonly anyContent: boolean;
}

/** Whether a flag is set, which has no value or a text in a REST request. */
function isSet(flag: boolean | string | undefined): boolean {
  return flag !== undefined && flag !== false && flag !== "false";
}

const action = "administrate:create-vdi";

export const diskImport = defineOperation({
  name: "disk.import",
  summary:
    "Import data as a new disk. Returns the path of the upload; with `url` the id of the disk.",
  params: Type.Object({
    name: Type.String({ minLength: 1, description: "Name of the new disk." }),
    description: Type.Optional(
      Type.String({ description: "Description of the new disk." }),
    ),
    sr: idOf("the SR of the disk"),
    type: Type.Enum(["raw", "vhd", "iso", "qcow2", "vmdk", "vhdx"], {
      description:
        "Format of the data; iso is the same as raw. qcow2, VMDK and VHDX images are recognized by their content, whatever the type is.",
    }),
    url: sourceUrl,
    anyContent,
  }),
  result: sendToOrId,
  resume: (kept: PersistedImport, { objects }) => settleDisk(objects, kept),
  abandon: abandonDisk,
  permission: { action, resource: "SR", id: ({ sr }) => sr },
  handler: ({ type, anyContent, url, ...disk }, context) => {
    const { subject, receive } = planImport(context, {
      ...disk,
      operation: "disk.import",
      format: type === "iso" ? "raw" : type,
      anyContent: isSet(anyContent),
    });
    return receiveFile({ ...subject, url }, receive);
  },
});

export const srImportVdi = defineOperation({
  name: "sr.importVdi",
  summary:
    "Import a dynamic VHD, a qcow2, VMDK or VHDX image or raw data as a new disk. Returns the path of the upload.",
  params: Type.Object({
    id: idOf("the SR of the disk"),
    name_label: Type.Optional(
      Type.String({ description: "Name of the new disk." }),
    ),
    name_description: Type.Optional(
      Type.String({ description: "Description of the new disk." }),
    ),
    raw: Type.Optional(
      Type.Union([Type.Boolean(), Type.Enum(["true", "false", ""])], {
        description: "Raw data instead of VHD. Without a value: true.",
      }),
    ),
    anyContent,
  }),
  result: sendTo,
  resume: (kept: PersistedImport, { objects }) => settleDisk(objects, kept),
  abandon: abandonDisk,
  permission: onId(action, "SR"),
  rest: {
    method: "post",
    path: "/srs/{id}/vdis",
    creates: "vdis",
    operationId: "SrImportVdi",
    isTransfer: true,
    status: 201,
    exposure: "confirm",
    summary:
      "Import a dynamic VHD, a qcow2, VMDK or VHDX image or raw data as a new disk.",
  },
  handler: ({ id: sr, raw, anyContent, ...names }, context) => {
    const { subject, receive } = planImport(context, {
      operation: "sr.importVdi",
      sr,
      name: names.name_label ?? "",
      description: names.name_description,
      format: isSet(raw) ? "raw" : "vhd",
      anyContent: isSet(anyContent),
    });
    return context.services.transfers.offerUpload(subject, receive);
  },
});

const importOperations = [diskImport, srImportVdi];

/** The subject of an import, and what receives its bytes. */
function planImport(
  context: OperationContext,
  { operation, sr, name, description = "", format, anyContent }: ImportInput,
) {
  const { objects } = context;
  const storage = objects.get(sr, "SR");
  const subject = {
    ...about(operation, `Import of ${name}`, storage),
    params: { sr, name, format },
    context,
  };
  const labels = { name_label: name, name_description: description };
  const receive = async (upload: Delivery, work: TransferTask) => {
    const { finished, ...delivery } = await toKnownFormat(
      upload,
      { format, isRaw: anyContent, result: "vhd" },
      { images: context.services.diskImages, work },
    );
    const create = (virtual_size: number) =>
      createDisk(storage, { ...labels, virtual_size });
    const disk = { name, format: delivery.format, create, finished };
    const ref = await receiveDisk(storage, delivery, disk, {
      ...work,
      persistState: (kept) => work.persistState({ ...kept, sr }),
    });
    return idOfMade(objects, storage.xapi, { type: "VDI", ref });
  };
  return { subject, receive };
}

/** The state of an import that the end of the server has interrupted. */
type PersistedImport = Partial<KeptDisk> & {
  /** Absent, as the disk: it was not created yet. */
  readonly sr?: string;
};

/**
 * Ends an interrupted import: a complete disk is retained, an incomplete one deleted.
 * @returns the id of the complete disk
 * @throws XoError INTERRUPTED
 */
async function settleDisk(
  objects: PoolObjects,
  { sr, vdi, isWhole = false }: PersistedImport,
): Promise<string> {
  if (sr === undefined || vdi === undefined) return failInterrupted();
  const { xapi } = objects.get(sr, "SR");
  if (isWhole) return idOfMade(objects, xapi, { type: "VDI", ref: vdi });
  const isDeleted = await removeDisk(xapi, vdi);
  throw new XoError("INTERRUPTED", {
    reason: isDeleted
      ? "the upload was incomplete; the disk was deleted"
      : `the upload was incomplete; the disk ${vdi} could not be deleted`,
  });
}

/** Deletes the incomplete disk of an import that is not resumed. */
async function abandonDisk(
  { sr, vdi, isWhole = false }: PersistedImport,
  { objects, task }: AbandonedTask,
): Promise<void> {
  if (sr === undefined || vdi === undefined || isWhole) return;
  const { xapi } = objects.get(sr, "SR");
  if (!(await removeDisk(xapi, vdi)))
    task.warn(`the incomplete disk ${vdi} could not be deleted`);
}

/** Resume function of transfers, which cannot be resumed. @throws XoError INTERRUPTED */
export function failInterrupted(): never {
  throw new XoError("INTERRUPTED", {
    reason: "the transfer was interrupted; incomplete data was deleted",
  });
}

/** Describes a transfer for its task and the audit log. */
export function about(operation: string, name: string, object: PoolObject) {
  const { id, type } = object;
  return { operation, name, object: { id, type } };
}

/** The name of an object for labels of tasks and file names; its id if the name is empty. */
export function nameOf({ object, id }: PoolObject): string {
  const name = object["name_label"];
  return typeof name === "string" && name !== "" ? name : id;
}

/** Export and import of the contents of disks. */
export const diskTransferOperations = [
  ...contentOperations,
  ...importOperations,
];
