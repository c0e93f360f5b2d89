import type { Inventory, Queries } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import type { PoolObjects } from "../objects/pool-objects.js";
import { defineOperation, type OperationContext } from "./define-operation.js";
import {
  enterMaintenance,
  leaveMaintenance,
} from "../storage/sr-maintenance.js";
import { Chains, readImages, type ChainsInfo } from "../storage/vdi-chains.js";
import { idOf, onId } from "./on-object.js";

const Told = Type.Object({
  unhealthyVdis: Type.Record(Type.String(), Type.Integer(), {
    description: "Images that wait to be merged, by id of the disk.",
  }),
  vdisWithUnknownVhdParent: Type.Array(Type.String()),
});

export interface SrCareOptions {
  readonly objects: PoolObjects;
  readonly queries: Pick<Queries, "page">;
  readonly inventory: Pick<Inventory, "runInSlices">;
}

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

export const srEnableMaintenanceMode = defineOperation({
  ...shared,
  name: "sr.enableMaintenanceMode",
  summary: "Shuts down the VMs that use an SR, and disconnects all hosts.",
  params: Type.Object({
    id: idOf("an SR"),
    vmsToShutdown: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description: "Ids of VMs; that others use the SR is an error.",
      }),
    ),
  }),
  handler: async ({ id, vmsToShutdown = [] }, context) => {
    for (const vm of vmsToShutdown) context.check("operate:stop", "VM", vm);
    const { task: work } = context;
    await enterMaintenance(on(context, id), vmsToShutdown, {
      objects: context.objects,
      work,
    });
    return true;
  },
});

export const srDisableMaintenanceMode = defineOperation({
  ...shared,
  name: "sr.disableMaintenanceMode",
  summary: "Connects hosts to an SR again, and starts the VMs of before.",
  params: Type.Object({ id: idOf("an SR") }),
  handler: async ({ id }, context) => {
    await leaveMaintenance(on(context, id), {
      objects: context.objects,
      work: context.task,
    });
    return true;
  },
});

export const smGetFromSr = defineOperation({
  name: "sm.getFromSr",
  summary: "The kind of storage that an SR is of.",
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

export const srGetVdiChainsInfo = defineOperation({
  name: "sr.getVdiChainsInfo",
  summary: "Disks of an SR with images that wait to be merged.",
  params: Type.Object({ id: idOf("an SR") }),
  result: Told,
  permission: onId("read", "SR"),
  handler: async ({ id }, context) =>
    toAnswer((await chains(context, id)).of(id)),
});

export const srGetAllUnhealthyVdiChainsLength = defineOperation({
  name: "sr.getAllUnhealthyVdiChainsLength",
  summary: "The same of all SRs that have such disks, by id of the SR.",
  params: Type.Object({}),
  result: Type.Record(Type.String(), Told),
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

/** Storage that is taken out of use for a while, and what waits to be cleaned up on it. */
export const srCareOperations = [
  srEnableMaintenanceMode,
  srDisableMaintenanceMode,
  smGetFromSr,
  srGetVdiChainsInfo,
  srGetAllUnhealthyVdiChainsLength,
];
