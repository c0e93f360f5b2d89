import { XoError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import { Type } from "typebox";
import {
  importForeignVm,
  type KeptImport,
} from "../../imports/import-foreign-vm.js";
import { checkChoices, networkChoices } from "../../imports/network-choices.js";
import { formatOf, type VmFormat } from "../../imports/ova-upload.js";
import type { ForeignVmChanges } from "../../imports/plan-foreign-vm.js";
import type { PoolObject, PoolObjects } from "../../objects/pool-objects.js";
import type { AbandonedTask } from "../../operations/operation.js";
import type { Delivery, TransferTask } from "../../transfers/transfer.js";
import { sendToXapi } from "../../transfers/xapi-streams.js";
import { checkXva } from "../../transfers/xva.js";
import { destroyVm } from "../../vms/destroy-vm.js";
import { PoolScope } from "../../vms/pool-scope.js";
import { SET_KEY } from "../../vms/limits/resource-sets.js";
import { ignoreInvalidHandle, untrackedXapi } from "../../vms/rollback.js";
import { markSet } from "../../vms/limits/set-mark.js";
import { readRecord } from "../../vms/xapi-records.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { about, failInterrupted, nameOf } from "../storage/disk-transfer.js";
import {
  receiveFile,
  sendTo,
  sendToOrId,
  sourceUrl,
} from "../storage/receive-file.js";
import { idOf, idOfMade, onId } from "../definition/on-object.js";

const fileFormat = Type.Enum(["xva", "ova"], {
  description: "Format of the file. Default: as its first bytes say.",
});

const vmImport = defineOperation({
  name: "vm.import",
  summary:
    "Import an XVA or OVA file as a new VM. Returns the path of the upload; with `url` the id of the VM. Requires administrate:import-vm on the pool too.",
  params: Type.Object({
    sr: idOf("the SR for its disks"),
    type: Type.Optional(fileFormat),
    url: sourceUrl,
    data: Type.Optional(
      Type.Object(
        {
          networks: Type.Optional(networkChoices),
          nameLabel: Type.Optional(Type.String({ minLength: 1 })),
          descriptionLabel: Type.Optional(Type.String()),
          memory: Type.Optional(
            Type.Integer({ minimum: 1, description: "In bytes." }),
          ),
          nCpus: Type.Optional(Type.Integer({ minimum: 1 })),
        },
        {
          additionalProperties: true,
          description:
            "Of an OVA: what differs from its descriptor. Other members are ignored, as is all for XVA.",
        },
      ),
    ),
  }),
  result: sendToOrId,
  resume: dropImport,
  abandon: abandonImport,
  permission: {
    action: "administrate:create-vdi",
    resource: "SR",
    id: ({ sr }) => sr,
  },
  handler: ({ sr, type, url, data = {} }, context) => {
    const storage = context.objects.get(sr, "SR");
    const poolId = String(storage.object["$pool"]);
    context.check("administrate:import-vm", "pool", poolId);
    const pool = context.objects.get(poolId, "pool");
    const request = { operation: "vm.import", pool, storage };
    const { subject, receive } = planImport(context, request, {
      format: type,
      networks: data.networks,
      changes: {
        name: data.nameLabel,
        description: data.descriptionLabel,
        memory: data.memory,
        vcpus: data.nCpus,
      },
    });
    return receiveFile({ ...subject, url }, receive);
  },
});

const poolImportVm = defineOperation({
  name: "pool.importVm",
  summary:
    "Import an XVA or OVA file as a new VM. Returns the path of the upload.",
  params: Type.Object({
    id: idOf("a pool"),
    sr: Type.Optional(idOf("an SR; default: the default SR of the pool")),
    format: Type.Optional(fileFormat),
    networks: Type.Optional(networkChoices),
  }),
  result: sendTo,
  resume: dropImport,
  abandon: abandonImport,
  permission: onId("administrate:import-vm", "pool"),
  rest: {
    method: "post",
    path: "/pools/{id}/vms",
    creates: "vms",
    operationId: "ImportVm",
    isTransfer: true,
    status: 201,
    exposure: "confirm",
    summary: "Import an XVA or OVA file as a new VM.",
  },
  handler: ({ id, sr, format, networks }, context) => {
    const pool = context.objects.get(id, "pool");
    const target = sr ?? (pool.object["default_SR"] as string | undefined);
    if (target === undefined)
      throw new XoError("INVALID_PARAMETERS", {
        reason: "the pool has no default SR: specify one",
      });
    context.check("administrate:create-vdi", "SR", target);
    const storage = context.objects.get(target, "SR");
    const request = { operation: "pool.importVm", pool, storage };
    const { subject, receive } = planImport(context, request, {
      format,
      networks,
    });
    return context.services.transfers.offerUpload(subject, receive);
  },
});

/** An imported VM that has no VIFs yet is deleted. @throws XoError INTERRUPTED */
async function dropImport(
  kept: KeptImport,
  context: Pick<OperationContext, "objects">,
): Promise<never> {
  await dropIncomplete(kept, context);
  return failInterrupted();
}

function abandonImport(
  kept: KeptImport,
  { objects }: Pick<AbandonedTask, "objects">,
): Promise<void> {
  return dropIncomplete(kept, { objects });
}

/** Deletes an imported VM that has no VIFs yet, and its disks. @throws XapiError; XoError LEFT_BEHIND */
export async function dropIncomplete(
  { sr, vm, isWhole = false }: KeptImport,
  { objects }: Pick<OperationContext, "objects">,
): Promise<void> {
  if (sr === undefined || vm === undefined || isWhole) return;
  const options = {
    deleteDisks: true,
    bypassBlock: true,
    evenDefaultTemplate: true,
  };
  const { xapi } = objects.get(sr, "SR");
  await ignoreInvalidHandle(destroyVm(xapi, vm, options));
}

interface Upload {
  readonly format: VmFormat | undefined;
  readonly networks: readonly string[] | undefined;
  readonly changes?: ForeignVmChanges;
}

interface ImportRequest {
  readonly operation: string;
  readonly pool: PoolObject;
  readonly storage: PoolObject;
}

/** The subject of an import, and what receives its bytes. */
function planImport(
  context: OperationContext,
  { operation, pool, storage }: ImportRequest,
  { format, networks = [], changes }: Upload,
) {
  const { objects } = context;
  const label = `Import of a VM to ${nameOf(storage)}`;
  const subject = {
    ...about(operation, label, pool),
    params: { sr: storage.id },
    context,
  };
  const { xapi, ref } = storage;
  const scope = new PoolScope(objects, storage, context);
  checkChoices(networks, scope);
  const receive = async (delivery: Delivery, work: TransferTask) => {
    if (storage.object["$pool"] !== pool.id)
      throw new XoError("NO_SUCH_OBJECT", { type: "SR", id: storage.id });
    if ((await formatOf(delivery.body, format)) === "ova") {
      const vm = await importForeignVm(
        {
          source: { type: "ova" },
          body: delivery.body,
          storage,
          cleanupXapi: untrackedXapi(objects, storage.id),
          label,
          networks,
          scope,
          workers: context.services.backupWorkers,
          ...(changes && { changes }),
        },
        work,
      );
      return idOfMade(objects, xapi, { type: "VM", ref: vm });
    }
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
  };
  return { subject, receive };
}

/** The file may name any resource set: what is imported was not counted there. */
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

/** Whole VMs in: XVA and OVA. */
export const vmImportOperations = [vmImport, poolImportVm];
