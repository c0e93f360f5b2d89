import { Type } from "typebox";
import type { PoolObject, PoolObjects } from "../../objects/pool-objects.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import {
  actionRoute,
  deleteRoute,
  idOf,
  onId,
  setFields,
} from "../definition/on-object.js";

const on = ({ objects }: Pick<OperationContext, "objects">, id: string) =>
  objects.get(id, "SR");

const shared = {
  params: Type.Object({ id: idOf("an SR") }),
  result: Type.Boolean(),
  changes: true,
};

const srSet = defineOperation({
  ...shared,
  name: "sr.set",
  summary: "Change the name and description of an SR.",
  params: Type.Object({
    id: idOf("an SR"),
    name_label: Type.Optional(
      Type.String({ minLength: 1, description: "Name of the SR." }),
    ),
    name_description: Type.Optional(
      Type.String({ description: "Description of the SR." }),
    ),
  }),
  permission: onId("operate:set", "SR"),
  handler: async ({ id, ...names }, context) => {
    const { xapi, ref } = on(context, id);
    await setFields(xapi, { className: "SR", ref }, names);
    return true;
  },
});

const srScan = defineOperation({
  ...shared,
  name: "sr.scan",
  summary: "Rescan an SR for disks that were added or removed outside of XAPI.",
  permission: onId("operate:scan", "SR"),
  rest: actionRoute("/srs/{id}/actions/scan", "ScanSr"),
  handler: async ({ id }, context) => {
    const { xapi, ref } = on(context, id);
    await xapi.callAsync("SR.scan", [ref]);
    return true;
  },
});

const srConnectAllPbds = defineOperation({
  ...shared,
  name: "sr.connectAllPbds",
  summary: "Connect all hosts to an SR (plug its PBDs).",
  permission: onId("administrate:connect", "SR"),
  handler: async ({ id }, context) =>
    switchPbds(context.objects, on(context, id), true),
});

const srDisconnectAllPbds = defineOperation({
  ...shared,
  name: "sr.disconnectAllPbds",
  summary: "Disconnect all hosts from an SR (unplug its PBDs).",
  permission: onId("administrate:disconnect", "SR"),
  handler: async ({ id }, context) =>
    switchPbds(context.objects, on(context, id), false),
});

const srForget = defineOperation({
  ...shared,
  name: "sr.forget",
  summary: "Forget an SR. Its data stays on the storage.",
  permission: onId("administrate:forget", "SR"),
  rest: actionRoute("/srs/{id}/actions/forget", "ForgetSr"),
  handler: ({ id }, context) => end(context.objects, on(context, id), "forget"),
});

const srDestroy = defineOperation({
  ...shared,
  name: "sr.destroy",
  summary: "Destroy an SR and its data. It must have no disks.",
  permission: onId("administrate:delete", "SR"),
  rest: deleteRoute("/srs/{id}", "DeleteSr"),
  handler: ({ id }, context) =>
    end(context.objects, on(context, id), "destroy"),
});

const srReclaimSpace = defineOperation({
  ...shared,
  name: "sr.reclaimSpace",
  summary: "Reclaim freed space of an SR (trim).",
  params: Type.Object({
    id: idOf("an SR"),
    bypassBackupCheck: Type.Optional(
      Type.Boolean({
        description: "Ignored. Clients of Xen Orchestra send it.",
      }),
    ),
  }),
  permission: onId("operate:reclaim-space", "SR"),
  rest: actionRoute("/srs/{id}/actions/reclaim_space", "ReclaimSpaceSr"),
  handler: ({ id }, context) => trim(on(context, id), context.objects),
});

/** Plugs or unplugs PBDs; PBDs that are already in that state are skipped. */
async function switchPbds(
  objects: PoolObjects,
  { xapi, object }: PoolObject,
  attached: boolean,
): Promise<true> {
  const refs = (object["$PBDs"] as readonly string[])
    .map((id) => objects.get(id, "PBD"))
    .filter((pbd) => pbd.object["attached"] !== attached)
    .map(({ ref }) => ref);
  await callAll(xapi, attached ? "PBD.plug" : "PBD.unplug", refs);
  return true;
}

/** Removes the SR. If XAPI rejects that, its connections are restored. */
async function end(
  objects: PoolObjects,
  sr: PoolObject,
  verb: "forget" | "destroy",
): Promise<true> {
  const plugged = (sr.object["$PBDs"] as readonly string[])
    .map((id) => objects.get(id, "PBD"))
    .filter(({ object }) => object["attached"] === true);
  const refs = plugged.map(({ ref }) => ref);
  try {
    await callAll(sr.xapi, "PBD.unplug", refs);
    await sr.xapi.callAsync(`SR.${verb}`, [sr.ref]);
  } catch (error) {
    // Plugging PBDs that are still plugged has no effect.
    await callAll(sr.xapi, "PBD.plug", refs).catch(() => undefined);
    throw error;
  }
  return true;
}

/** Calls all hosts in parallel. @throws the first error, when all calls have ended */
async function callAll(
  xapi: PoolObject["xapi"],
  method: string,
  refs: readonly string[],
): Promise<void> {
  const calls = refs.map((ref) => xapi.callAsync(method, [ref]));
  const failed = (await Promise.allSettled(calls)).find(
    ({ status }) => status === "rejected",
  );
  if (failed?.status === "rejected") throw failed.reason;
}

async function trim(
  { xapi, id, object }: PoolObject,
  objects: PoolObjects,
): Promise<true> {
  const pool = objects.get(String(object["$pool"]), "pool");
  const master = objects.get(String(pool.object["master"]), "host");
  await xapi.callAsync("host.call_plugin", [
    master.ref,
    "trim",
    "do_trim",
    { sr_uuid: id },
  ]);
  return true;
}

/** Existing SRs; creation is in sr-create.ts. */
export const srOperations = [
  srSet,
  srScan,
  srConnectAllPbds,
  srDisconnectAllPbds,
  srForget,
  srDestroy,
  srReclaimSpace,
];
