import { hostsOfPool } from "./pool-hosts.js";
import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import { joinPool } from "../../hosts/join-pool.js";
import { designateCoordinator } from "../../hosts/designate-coordinator.js";
import { nameOf } from "../../hosts/evacuation-blockers.js";
import type { PoolObject } from "../../objects/pool-objects.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { actionRoute, idOf } from "../definition/on-object.js";

const force = Type.Optional(
  Type.Boolean({ description: "Joins also if the CPUs of the hosts differ." }),
);

const shared = { result: Type.Boolean(), changes: true };

const poolSetPoolMaster = defineOperation({
  ...shared,
  name: "pool.setPoolMaster",
  summary: "Designate a host as the coordinator (master) of its pool.",
  params: Type.Object({ host: idOf("a host of the pool") }),
  permission: {
    action: "administrate:set",
    resource: "host",
    id: ({ host }) => host,
  },
  handler: async ({ host }, context) => {
    const member = context.objects.get(host, "host");
    const pool = String(member.object["$pool"]);
    context.check("administrate:set", "pool", pool);
    const { signal } = context;
    await designateCoordinator(member, {
      objects: context.objects,
      clock: context.services.clock,
      signal,
    });
    return true;
  },
});

const poolMergeInto = defineOperation({
  ...shared,
  name: "pool.mergeInto",
  summary:
    "Merge pools of one host each into another pool, which their hosts join.",
  params: Type.Object({
    source: Type.Optional(idOf("a pool")),
    sources: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        maxItems: 1_000,
        description: "Ids of pools.",
      }),
    ),
    target: idOf("the pool to join"),
    force,
  }),
  permission: {
    action: "administrate:add-host",
    resource: "pool",
    id: ({ target }) => target,
  },
  handler: async ({ source, sources = [], target, force }, context) => {
    const all = source === undefined ? sources : [source, ...sources];
    if (all.length === 0)
      throw new XoError("INVALID_PARAMETERS", { reason: "no source" });
    await merge(context, {
      sources: [...new Set(all)],
      target,
      force: force === true,
    });
    return true;
  },
});

const poolAddHost = defineOperation({
  ...shared,
  name: "pool.addHost",
  summary: "Join the only host of a pool to another pool.",
  params: Type.Object({
    pool: idOf("a pool"),
    host: idOf("a host that is the only one of its pool"),
    force,
  }),
  permission: {
    action: "administrate:add-host",
    resource: "pool",
    id: ({ pool }) => pool,
  },
  rest: {
    ...actionRoute("/pools/{pool}/actions/add_host", "AddHost"),
    exposure: "deny",
  },
  handler: async ({ pool, host, force }, context) => {
    context.check("read", "host", host);
    const source = String(context.objects.get(host, "host").object["$pool"]);
    await merge(context, {
      sources: [source],
      target: pool,
      force: force === true,
    });
    return true;
  },
});

interface MergeRequest {
  /** Ids of pools with one host each. */
  readonly sources: readonly string[];
  /** Id of the pool that they join. */
  readonly target: string;
  readonly force: boolean;
}

/** Joins one pool after the other, until the first failure. */
async function merge(
  context: OperationContext,
  { sources, target, force }: MergeRequest,
): Promise<void> {
  const { objects, services, signal, task } = context;
  const { poolCredentials: credentialsService, clock } = services;
  const connectionOf = ({ id }: PoolObject) => objects.connectionOf(id)!;
  const addressOf = (pool: PoolObject) => {
    const master = objects.get(String(pool.object["master"]), "host");
    const address = String(master.object["address"]);
    return credentialsService.addressOf(connectionOf(pool), address);
  };
  for (const id of sources) context.check("administrate:detach", "pool", id);
  for (const id of sources) {
    const source = objects.get(id, "pool");
    const connection = connectionOf(source);
    const disconnect = () =>
      credentialsService.disconnectAndDisable(connection);
    const parts = { objects, clock, signal, addressOf, disconnect };
    const into = objects.get(target, "pool");
    const hosts = (await hostsOfPool(services.queries, id)).map((host) =>
      objects.get(host, "host"),
    );
    await task.part(`join ${nameOf(source)}`, () =>
      joinPool({ source, hosts, target: into, force }, parts),
    );
  }
}

/** Members of pools: join, eject, designate a coordinator. */
export const poolMembersOperations = [
  poolSetPoolMaster,
  poolMergeInto,
  poolAddHost,
];
