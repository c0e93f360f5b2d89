import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import { enableHa } from "../../hosts/enable-ha.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { hostsOfPool } from "./pool-hosts.js";
import { idOf } from "../definition/on-object.js";
import type { Action } from "../../rights/actions.js";

const HaState = Type.Object({
  enabled: Type.Boolean(),
  heartbeatSrs: Type.Array(Type.String()),
  hostFailuresToTolerate: Type.Integer({
    description:
      "Number of host failures to tolerate: all protected VMs can be restarted.",
  }),
  mostHostFailures: Type.Union([Type.Integer(), Type.Null()], {
    description:
      "Maximum number of host failures that the pool's memory allows; null: the pool did not compute it within 5 s.",
  }),
  planExistsFor: Type.Integer({
    description:
      "Number of host failures that the current failover plan covers.",
  }),
  overcommitted: Type.Boolean(),
  configuration: Type.Record(Type.String(), Type.String()),
});

/**
 * Maximum time for this computation, in ms. For pools with many VMs it takes
 * minutes, and other values must not be delayed.
 */
const MAX_FAILURES_MS = 5_000;

const on = ({ objects }: Pick<OperationContext, "objects">, id: string) =>
  objects.get(id, "pool");

const byPool = ({ pool }: { readonly pool: string }) => pool;

const onPool = (action: Action) => ({
  action,
  resource: "pool",
  id: byPool,
});

const pool = idOf("a pool");

const shared = {
  result: Type.Boolean(),
  permission: onPool("administrate:set"),
  changes: true,
};

const poolEnableHa = defineOperation({
  ...shared,
  name: "pool.enableHa",
  summary: "Enable high availability (HA) of a pool.",
  params: Type.Object({
    pool,
    heartbeatSrs: Type.Array(Type.String({ minLength: 1 }), {
      maxItems: 1_000,
      description:
        "Ids of shared SRs for the HA heartbeat. Default: chosen by the pool.",
    }),
    configuration: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: "Settings of HA, such as {timeout: seconds}.",
      }),
    ),
  }),
  handler: async ({ pool, heartbeatSrs, configuration = {} }, context) => {
    for (const id of heartbeatSrs) context.check("read", "SR", id);
    const srs = heartbeatSrs.map((id) => context.objects.get(id, "SR"));
    const hosts = (await hostsOfPool(context.services.queries, pool)).map(
      (id) => context.objects.get(id, "host"),
    );
    await enableHa(on(context, pool), hosts, srs, {
      objects: context.objects,
      configuration,
    });
    return true;
  },
});

const poolDisableHa = defineOperation({
  ...shared,
  name: "pool.disableHa",
  summary: "Disable high availability (HA) of a pool.",
  params: Type.Object({ pool }),
  handler: async ({ pool }, context) => {
    await on(context, pool).xapi.callAsync("pool.disable_ha", []);
    return true;
  },
});

const poolSetHaHostFailures = defineOperation({
  ...shared,
  name: "pool.setHaHostFailures",
  summary:
    "Set the number of host failures that high availability (HA) of a pool tolerates.",
  params: Type.Object({
    pool,
    hostFailuresToTolerate: Type.Integer({
      minimum: 0,
      maximum: 64,
      description: "Number of hosts that may fail at the same time.",
    }),
  }),
  handler: async ({ pool, hostFailuresToTolerate: requested }, context) => {
    const { xapi, ref } = on(context, pool);
    const method = "pool.ha_compute_max_host_failures_to_tolerate";
    const most = Number(await xapi.call(method, []));
    if (requested > most)
      throw new XoError("INVALID_PARAMETERS", {
        reason: `the pool tolerates at most ${most} host failures`,
      });
    await xapi.callAsync("pool.set_ha_host_failures_to_tolerate", [
      ref,
      String(requested),
    ]);
    return true;
  },
});

const poolGetHaState = defineOperation({
  name: "pool.getHaState",
  summary:
    "Return whether high availability (HA) of a pool is enabled, and the number of host failures to tolerate.",
  params: Type.Object({ pool }),
  result: HaState,
  permission: onPool("read"),
  handler: async ({ pool }, context) => {
    const { xapi, ref, object } = on(context, pool);
    const get = (field: string) => xapi.call(`pool.get_ha_${field}`, [ref]);
    const most = "pool.ha_compute_max_host_failures_to_tolerate";
    return {
      enabled: object["HA_enabled"] === true,
      heartbeatSrs: object["haSrs"] as string[],
      hostFailuresToTolerate: Number(await get("host_failures_to_tolerate")),
      mostHostFailures: await xapi
        .call(most, [], { timeoutMs: MAX_FAILURES_MS })
        .then(Number, () => null),
      planExistsFor: Number(await get("plan_exists_for")),
      overcommitted: (await get("overcommitted")) === true,
      configuration: (await get("configuration")) as Record<string, string>,
    };
  },
});

/** High availability: hosts monitor each other and restart the VMs of a failed host. */
export const poolHaOperations = [
  poolEnableHa,
  poolDisableHa,
  poolSetHaHostFailures,
  poolGetHaState,
];
