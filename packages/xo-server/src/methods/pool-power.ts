import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import { systemClock, type Clock } from "../clock.js";
import type { LeaveParts } from "../hosts/empty-host.js";
import { emergencyShutdown } from "../hosts/emergency-shutdown.js";
import { rollingReboot, type RollingRequest } from "../hosts/rolling-reboot.js";
import { RollingPlans, type PlanStore } from "../hosts/rolling-plans.js";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import {
  defineOperation,
  type HandlerContext,
  type Operation,
} from "../operations/operation.js";
import type { RestRoute } from "../operations/rest-route.js";
import type { HostsOf } from "./host-patches.js";
import { actionRoute, idOf, onId } from "./on-object.js";

export interface PoolPowerOptions {
  readonly objects: PoolObjects;
  /** Hosts of a pool, by the pool's id. */
  readonly hostsOf: HostsOf;
  /** Progress of rolling reboots. */
  readonly plans: RollingPlans;
  readonly clock?: Clock;
  /** Absent: XAPI finds other hosts for guests. */
  readonly evacuations?: LeaveParts["evacuations"];
}

const flag = (description: string) =>
  Type.Optional(Type.Boolean({ description }));

/** What is done to all hosts of a pool, or to which hosts it has. */
export function poolPowerMethods({
  objects,
  hostsOf,
  plans,
  clock = systemClock,
  evacuations,
}: PoolPowerOptions): Operation[] {
  const on = (id: string) => objects.get(id, "pool");
  const shared = { result: Type.Boolean(), changes: true };
  const pool = idOf("a pool");
  const onPool = (action: string) => ({
    ...onId(action, "pool"),
    id: ({ pool }: { pool: string }) => pool,
  });
  // Whoever may do this to a pool may do it to each of its hosts.
  const all = async (id: string) =>
    (await hostsOf(id, undefined)).map((host) => objects.get(host, "host"));
  const roll = async (
    pool: string,
    request: RollingRequest,
    { signal, task: work }: HandlerContext,
  ) => {
    const parts = { objects, clock, signal, work, plans, evacuations };
    await rollingReboot(on(pool), () => all(pool), parts, request);
    return true;
  };
  return [
    defineOperation({
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
        roll(pool, { shutdownPinnedVms, resume }, context),
      resume: ({ pool }: { readonly pool: string }, context) =>
        roll(pool, { resume: true }, context),
    }),
    defineOperation({
      ...shared,
      name: "pool.emergencyShutdown",
      summary:
        "Suspends all VMs of a pool, or cuts their power, and shuts its hosts down.",
      params: Type.Object({ pool }),
      permission: onPool("administrate:stop"),
      rest: action("emergency_shutdown", "EmergencyShutdown"),
      handler: async ({ pool }, { task: work }) => {
        const { master, hosts } = split(on(pool), await all(pool));
        const down = (host: PoolObject) =>
          work.part(`shut down ${String(host.object["name_label"])}`, () =>
            emergencyShutdown(host, objects),
          );
        const ended = await Promise.allSettled(hosts.map(down));
        // Without it nobody could shut down the others.
        const failed = ended.find(({ status }) => status === "rejected");
        if (failed?.status === "rejected") throw failed.reason;
        for (const host of master) await down(host);
        return true;
      },
    }),
    defineOperation({
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
        const { ref, object } = objects.get(network, "network");
        if (object["$pool"] !== id)
          throw new XoError("NO_SUCH_OBJECT", { type: "network", id: network });
        await on(id).xapi.callAsync("pool.management_reconfigure", [ref]);
        return true;
      },
    }),
    defineOperation({
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
    }),
  ];
}

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
