import { hostsOfPool } from "./pool-hosts.js";
import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import { emergencyShutdown } from "../hosts/emergency-shutdown.js";
import { rollingReboot, type RollingRequest } from "../hosts/rolling-reboot.js";
import type { PoolObject } from "../objects/pool-objects.js";
import type { HandlerContext } from "../operations/operation.js";
import { defineOperation, type OperationContext } from "./define-operation.js";
import type { RestRoute } from "../operations/rest-route.js";
import { actionRoute, idOf, onId } from "./on-object.js";

const flag = (description: string) =>
  Type.Optional(Type.Boolean({ description }));

const on = ({ objects }: Pick<OperationContext, "objects">, id: string) =>
  objects.get(id, "pool");

const shared = { result: Type.Boolean(), changes: true };

const pool = idOf("a pool");

const onPool = (action: string) => ({
  ...onId(action, "pool"),
  id: ({ pool }: { pool: string }) => pool,
});

// Whoever may do this to a pool may do it to each of its hosts.
const all = async (
  { services, objects }: Pick<OperationContext, "services" | "objects">,
  id: string,
) =>
  (await hostsOfPool(services.queries, id)).map((host) =>
    objects.get(host, "host"),
  );

const roll = async (
  context: OperationContext,
  pool: string,
  request: RollingRequest,
  { signal, task: work }: HandlerContext,
) => {
  const parts = {
    objects: context.objects,
    clock: context.services.clock,
    signal,
    work,
    plans: context.services.rollingPlans,
    evacuations: context.services.evacuations,
  };
  await rollingReboot(
    on(context, pool),
    () => all(context, pool),
    parts,
    request,
  );
  return true;
};

export const poolRollingReboot = defineOperation({
  ...shared,
  name: "pool.rollingReboot",
  summary:
    "Reboots the hosts of a pool one after another, VMs moved away meanwhile and back at the end. The first failure ends it; the next call goes on from there.",
  params: Type.Object({
    pool,
    shutdownPinnedVms: flag(
      "VMs that cannot be moved are shut down, and started afterwards.",
    ),
    bypassBackupCheck: flag("Taken, and not needed here."),
    resume: flag(
      "False: begins anew where one has stopped. True: also takes over what a server that has died was doing.",
    ),
  }),
  permission: onPool("administrate:restart"),
  rest: action("rolling_reboot", "RollingReboot"),
  handler: ({ pool, shutdownPinnedVms, resume }, context) =>
    roll(context, pool, { shutdownPinnedVms, resume }, context),
  resume: ({ pool }: { readonly pool: string }, context) =>
    roll(context, pool, { resume: true }, context),
});

export const poolEmergencyShutdown = defineOperation({
  ...shared,
  name: "pool.emergencyShutdown",
  summary:
    "Suspends all VMs of a pool, or cuts their power, and shuts its hosts down.",
  params: Type.Object({ pool }),
  permission: onPool("administrate:stop"),
  rest: action("emergency_shutdown", "EmergencyShutdown"),
  handler: async ({ pool }, context) => {
    const { master, hosts } = split(
      on(context, pool),
      await all(context, pool),
    );
    const down = (host: PoolObject) =>
      context.task.part(`shut down ${String(host.object["name_label"])}`, () =>
        emergencyShutdown(host, context.objects),
      );
    const ended = await Promise.allSettled(hosts.map(down));
    // Without it nobody could shut down the others.
    const failed = ended.find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
    for (const host of master) await down(host);
    return true;
  },
});

export const poolManagementReconfigure = defineOperation({
  ...shared,
  name: "pool.managementReconfigure",
  summary: "Has all hosts of a pool use another network for management.",
  params: Type.Object({ id: pool, network: idOf("a network of the pool") }),
  permission: onId("administrate:set", "pool"),
  rest: {
    ...action("management_reconfigure", "ManagementReconfigurePool"),
    path: "/pools/{id}/actions/management_reconfigure",
  },
  handler: async ({ id, network }, context) => {
    context.check("read", "network", network);
    const { ref, object } = context.objects.get(network, "network");
    if (object["$pool"] !== id)
      throw new XoError("NO_SUCH_OBJECT", { type: "network", id: network });
    await on(context, id).xapi.callAsync("pool.management_reconfigure", [ref]);
    return true;
  },
});

export const poolRollingUpdate = defineOperation({
  ...shared,
  name: "pool.rollingUpdate",
  summary: "Would install updates host after host; not built yet.",
  params: Type.Object({
    pool,
    rebootVm: flag("Not built yet."),
    shutdownPinnedVms: flag("Not built yet."),
    bypassBackupCheck: flag("Not built yet."),
  }),
  permission: onPool("administrate:restart"),
  rest: action("rolling_update", "RollingUpdate"),
  handler: () =>
    notBuilt(
      "a rolling update",
      "XAPI has no call that installs an XCP-ng host's packages; pool.rollingReboot reboots the hosts",
    ),
});

function action(verb: string, operationId: string): RestRoute {
  return actionRoute(`/pools/{pool}/actions/${verb}`, operationId);
}

async function notBuilt(what: string, reason: string): Promise<boolean> {
  throw new XoError("UNSUPPORTED", { what, reason });
}

function split(pool: PoolObject, all: readonly PoolObject[]) {
  const isMaster = ({ id }: PoolObject) => id === pool.object["master"];
  return {
    master: all.filter(isMaster),
    hosts: all.filter((host) => !isMaster(host)),
  };
}

/** What is done to all hosts of a pool, or to which hosts it has. */
export const poolPowerOperations = [
  poolRollingReboot,
  poolEmergencyShutdown,
  poolManagementReconfigure,
  poolRollingUpdate,
];
