import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import type { Clock } from "../clock.js";
import { joinPool } from "../hosts/join-pool.js";
import { makeMaster } from "../hosts/new-master.js";
import { nameOf } from "../hosts/stuck-vms.js";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import type { PoolDoors } from "../pools/pool-doors.js";
import {
  defineOperation,
  type HandlerContext,
  type Operation,
} from "../operations/operation.js";
import type { HostsOf } from "./host-patches.js";
import { actionRoute, idOf } from "./on-object.js";

export interface PoolMembersOptions {
  readonly objects: PoolObjects;
  /** Hosts of a pool, by the pool's id. */
  readonly hostsOf: HostsOf;
  readonly doors: Pick<PoolDoors, "doorOf" | "letGo">;
  readonly clock: Clock;
}

const force = Type.Optional(
  Type.Boolean({ description: "Although CPUs differ." }),
);

/** Which hosts a pool has, and which coordinates them. */
export function poolMemberMethods(options: PoolMembersOptions): Operation[] {
  const { objects, clock } = options;
  const merge = createMerge(options);
  const shared = { result: Type.Boolean(), changes: true };
  return [
    defineOperation({
      ...shared,
      name: "pool.setPoolMaster",
      summary: "Makes a host the coordinator of its pool.",
      params: Type.Object({ host: idOf("a host of the pool") }),
      permission: {
        action: "administrate:set",
        resource: "host",
        id: ({ host }) => host,
      },
      handler: async ({ host }, context) => {
        const member = objects.get(host, "host");
        const pool = String(member.object["$pool"]);
        context.check("administrate:set", "pool", pool);
        const { signal } = context;
        await makeMaster(member, { objects, clock, signal });
        return true;
      },
    }),
    defineOperation({
      ...shared,
      name: "pool.mergeInto",
      summary:
        "Has pools of one host each join another pool; they are pools no more.",
      params: Type.Object({
        source: Type.Optional(idOf("a pool")),
        sources: Type.Optional(
          Type.Array(Type.String({ minLength: 1 }), {
            description: "Ids of pools.",
          }),
        ),
        target: idOf("the pool that they join"),
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
        await merge([...new Set(all)], target, force === true, context);
        return true;
      },
    }),
    defineOperation({
      ...shared,
      name: "pool.addHost",
      summary: "Has a host that is a pool of its own join a pool.",
      params: Type.Object({
        pool: idOf("a pool"),
        host: idOf("a host of another pool, its only one"),
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
        const source = String(objects.get(host, "host").object["$pool"]);
        await merge([source], pool, force === true, context);
        return true;
      },
    }),
  ];
}

type Merge = (
  sources: readonly string[],
  target: string,
  force: boolean,
  context: HandlerContext,
) => Promise<void>;

/** One after the other; the first failure ends it. */
function createMerge(options: PoolMembersOptions): Merge {
  const { objects, hostsOf, doors, clock } = options;
  const connectionOf = ({ id }: PoolObject) => objects.connectionOf(id)!;
  const doorOf = (pool: PoolObject) => {
    const master = objects.get(String(pool.object["master"]), "host");
    return doors.doorOf(connectionOf(pool), String(master.object["address"]));
  };
  const hostsNow = async (pool: string) =>
    (await hostsOf(pool, undefined)).map((id) => objects.get(id, "host"));
  return async (sources, target, force, context) => {
    const { signal, task: work } = context;
    for (const id of sources) context.check("administrate:detach", "pool", id);
    for (const id of sources) {
      const source = objects.get(id, "pool");
      const connection = connectionOf(source);
      const letGo = () => doors.letGo(connection);
      const parts = { objects, clock, signal, doorOf, letGo };
      const into = objects.get(target, "pool");
      const hosts = await hostsNow(id);
      await work.part(`join ${nameOf(source)}`, () =>
        joinPool({ source, hosts, target: into, force }, parts),
      );
    }
  };
}
