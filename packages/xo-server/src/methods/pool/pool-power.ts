import { hostsOfPool } from "./pool-hosts.js";
import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import { emergencyShutdown } from "../../hosts/emergency-shutdown.js";
import type { PoolObject } from "../../objects/pool-objects.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import type { RestRoute } from "../../operations/rest-route.js";
import { actionRoute, idOf, onId } from "../definition/on-object.js";
import type { Action } from "../../rights/actions.js";

const on = ({ objects }: Pick<OperationContext, "objects">, id: string) =>
  objects.get(id, "pool");

const shared = { result: Type.Boolean(), changes: true };

const pool = idOf("a pool");

const onPool = (action: Action) => ({
  ...onId(action, "pool"),
  id: ({ pool }: { pool: string }) => pool,
});

/**
 * The hosts of a pool; the privilege for the pool includes them. Few hosts are read
 * per turn of the event loop.
 */
async function readHosts(
  { services, objects }: Pick<OperationContext, "services" | "objects">,
  id: string,
): Promise<PoolObject[]> {
  const hosts: PoolObject[] = [];
  for (const host of await hostsOfPool(services.queries, id)) {
    await services.bulkRuns.turns.next();
    hosts.push(objects.get(host, "host"));
  }
  return hosts;
}

const poolEmergencyShutdown = defineOperation({
  ...shared,
  name: "pool.emergencyShutdown",
  summary:
    "Shut down a pool in an emergency: suspend its VMs (hard shutdown if that fails) and shut down its hosts.",
  params: Type.Object({ pool }),
  permission: onPool("administrate:stop"),
  rest: action("emergency_shutdown", "EmergencyShutdown"),
  handler: async ({ pool }, context) => {
    const { objects, services } = context;
    const { turns } = services.bulkRuns;
    const { coordinators, hosts } = splitCoordinator(
      on(context, pool),
      await readHosts(context, pool),
    );
    const shutDown = (host: PoolObject) =>
      context.task.part(`shut down ${String(host.object["name_label"])}`, () =>
        emergencyShutdown(host, { objects, turns }),
      );
    const ended = await Promise.allSettled(hosts.map(shutDown));
    // The coordinator is shut down last, because all calls go through it.
    const failed = ended.find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
    for (const host of coordinators) await shutDown(host);
    return true;
  },
});

const poolManagementReconfigure = defineOperation({
  ...shared,
  name: "pool.managementReconfigure",
  summary: "Change the management network of all hosts of a pool.",
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

function action(verb: string, operationId: string): RestRoute {
  return actionRoute(`/pools/{pool}/actions/${verb}`, operationId);
}

function splitCoordinator(pool: PoolObject, all: readonly PoolObject[]) {
  const isCoordinator = ({ id }: PoolObject) => id === pool.object["master"];
  return {
    coordinators: all.filter(isCoordinator),
    hosts: all.filter((host) => !isCoordinator(host)),
  };
}

/** Operations on all hosts of a pool. */
export const poolPowerOperations = [
  poolEmergencyShutdown,
  poolManagementReconfigure,
];
