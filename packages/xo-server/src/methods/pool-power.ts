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
import type { Action } from "../rights/actions.js";

const flag = (description: string) =>
  Type.Optional(Type.Boolean({ description }));

const on = ({ objects }: Pick<OperationContext, "objects">, id: string) =>
  objects.get(id, "pool");

const shared = { result: Type.Boolean(), changes: true };

const pool = idOf("a pool");

const onPool = (action: Action) => ({
  ...onId(action, "pool"),
  id: ({ pool }: { pool: string }) => pool,
});

// The privilege for the pool includes its hosts.
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
    "Rolling reboot of a pool: evacuates and reboots its hosts one after another, then migrates the VMs back. It stops at the first failure; the next call resumes it.",
  params: Type.Object({
    pool,
    shutdownPinnedVms: flag(
      "Shuts down VMs that cannot be migrated, and starts them afterwards.",
    ),
    bypassBackupCheck: flag("Accepted and ignored."),
    resume: flag(
      "Default: resumes a rolling reboot that stopped. False: starts a new one. True: also resumes one of a server that has crashed.",
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
    "Emergency shutdown of a pool: suspends its VMs, or hard shuts them down, and shuts down its hosts.",
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
    // The coordinator is shut down last: the calls go through it.
    const failed = ended.find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
    for (const host of master) await down(host);
    return true;
  },
});

export const poolManagementReconfigure = defineOperation({
  ...shared,
  name: "pool.managementReconfigure",
  summary: "Changes the management network of all hosts of a pool.",
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
  summary:
    "Rolling update of a pool. Not supported: the call fails with UNSUPPORTED.",
  params: Type.Object({
    pool,
    rebootVm: flag("Accepted and ignored."),
    shutdownPinnedVms: flag("Accepted and ignored."),
    bypassBackupCheck: flag("Accepted and ignored."),
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
