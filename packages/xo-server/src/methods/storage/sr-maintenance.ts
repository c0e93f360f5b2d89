import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import {
  enterSrMaintenance,
  exitSrMaintenance,
} from "../../storage/sr-maintenance.js";
import {
  Chains,
  readImages,
  type ChainsInfo,
} from "../../storage/vdi-chains.js";
import { idOf, onId } from "../definition/on-object.js";

const ChainReport = Type.Object({
  unhealthyVdis: Type.Record(Type.String(), Type.Integer(), {
    description:
      "Number of images waiting for coalescing, by the id of the disk.",
  }),
  vdisWithUnknownVhdParent: Type.Array(Type.String()),
});

const on = ({ objects }: Pick<OperationContext, "objects">, id: string) =>
  objects.get(id, "SR");

const chains = async (
  { services }: Pick<OperationContext, "services">,
  sr?: string,
) => {
  const found = new Chains(await readImages(services.queries, sr));
  await services.inventory.runInSlices("vdi-chains", found.find());
  return found;
};

const shared = {
  result: Type.Boolean(),
  permission: onId("administrate:maintenance", "SR"),
  changes: true,
};

const srEnableMaintenanceMode = defineOperation({
  ...shared,
  name: "sr.enableMaintenanceMode",
  summary:
    "Enter the maintenance mode of an SR: shut down the VMs that use it and disconnect all hosts.",
  params: Type.Object({
    id: idOf("an SR"),
    vmsToShutdown: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        maxItems: 1_000,
        description:
          "Ids of the VMs to shut down. The operation fails if other running VMs use the SR.",
      }),
    ),
  }),
  handler: async ({ id, vmsToShutdown = [] }, context) => {
    for (const vm of vmsToShutdown) context.check("operate:stop", "VM", vm);
    const { task: work } = context;
    await enterSrMaintenance(on(context, id), vmsToShutdown, {
      objects: context.objects,
      work,
    });
    return true;
  },
});

const srDisableMaintenanceMode = defineOperation({
  ...shared,
  name: "sr.disableMaintenanceMode",
  summary:
    "Exit the maintenance mode of an SR: connect the hosts and start the VMs that were shut down.",
  params: Type.Object({ id: idOf("an SR") }),
  handler: async ({ id }, context) => {
    await exitSrMaintenance(on(context, id), {
      objects: context.objects,
      work: context.task,
    });
    return true;
  },
});

const smGetFromSr = defineOperation({
  name: "sm.getFromSr",
  summary: "Return the type of an SR.",
  params: Type.Object({ sr: idOf("an SR") }),
  result: Type.Object({}),
  permission: {
    action: "read",
    resource: "SR",
    id: ({ sr }) => sr,
  },
  handler: async ({ sr }, context) => {
    const { SR_type, $pool } = on(context, sr).object;
    const filter = `$pool:"${String($pool)}"`;
    const page = await context.services.queries.page({
      type: "SM",
      sort: [],
      filter,
    });
    const found = page.ids
      .map((id) => context.objects.get(id, "SM").object)
      .find(({ SM_type }) => SM_type === SR_type);
    if (found !== undefined) return found;
    const id = String(SR_type);
    throw new XoError("NO_SUCH_OBJECT", { type: "SM", id });
  },
});

const srGetVdiChainsInfo = defineOperation({
  name: "sr.getVdiChainsInfo",
  summary: "List the disks of an SR that have images waiting for coalescing.",
  params: Type.Object({ id: idOf("an SR") }),
  result: ChainReport,
  permission: onId("read", "SR"),
  handler: async ({ id }, context) =>
    toAnswer((await chains(context, id)).of(id)),
});

const srGetAllUnhealthyVdiChainsLength = defineOperation({
  name: "sr.getAllUnhealthyVdiChainsLength",
  summary:
    "List the disks of all SRs that have images waiting for coalescing, by the id of the SR.",
  params: Type.Object({}),
  result: Type.Record(Type.String(), ChainReport),
  permission: "admin",
  handler: async (_params, context) => {
    const all = await chains(context);
    return Object.fromEntries(
      all.srs().map((sr) => [sr, toAnswer(all.of(sr))]),
    );
  },
});

function toAnswer(info: ChainsInfo) {
  const { unhealthyVdis, vdisWithUnknownVhdParent } = info;
  return {
    unhealthyVdis,
    vdisWithUnknownVhdParent: [...vdisWithUnknownVhdParent],
  };
}

/** Maintenance mode of SRs, and coalescing of disk images. */
export const srMaintenanceOperations = [
  srEnableMaintenanceMode,
  srDisableMaintenanceMode,
  smGetFromSr,
  srGetVdiChainsInfo,
  srGetAllUnhealthyVdiChainsLength,
];
