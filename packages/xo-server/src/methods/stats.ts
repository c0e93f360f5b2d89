import { Type } from "typebox";
import type { RawJson } from "../encoding/raw-json.js";
import type { PoolObjects } from "../objects/pool-objects.js";
import { readableTo } from "../objects/readable.js";
import {
  defineOperation,
  type CallContext,
  type Operation,
} from "../operations/operation.js";
import type { RestRoute } from "../operations/rest-route.js";
import { granularities } from "../stats/granularity.js";
import type { ObjectStats } from "../stats/object-stats.js";
import type { HostsOf } from "./host-patches.js";

export interface StatsMethodsOptions {
  readonly stats: ObjectStats;
  readonly objects: PoolObjects;
  /** Hosts of a pool, by the pool's id. */
  readonly hostsOf: HostsOf;
}

const how = {
  granularity: Type.Optional(
    Type.Enum([...granularities], {
      description: "A point each 5 s (default), minute, hour or day.",
    }),
  ),
  start: Type.Optional(
    Type.Integer({
      description:
        "Only points after it, in s: endTimestamp of the answer before.",
    }),
  ),
};
const of = (what: string) =>
  Type.String({ minLength: 1, description: `Of ${what}.` });

const read = {
  action: "read",
  id: ({ id }: { id: string }) => id,
};

const ofOne = Type.Unsafe<RawJson>(
  Type.Object({
    endTimestamp: Type.Integer({ description: "Of the last point, in s." }),
    interval: Type.Integer({ description: "Between two points, in s." }),
    stats: Type.Object({}, { description: "Points, oldest first, or null." }),
  }),
);
const ofHosts = Type.Unsafe<RawJson>(
  Type.Object({}, { description: "Statistics of each host, by its id." }),
);

const route = (path: string, operationId: string): RestRoute => ({
  method: "get",
  path,
  operationId,
  exposure: "deny",
});

/** What hosts have measured: CONTRACT 2.7. */
export function statsMethods({
  stats,
  objects,
  hostsOf,
}: StatsMethodsOptions): Operation[] {
  return [
    defineOperation({
      name: "host.stats",
      summary: "What a host has measured of itself.",
      params: Type.Object({ host: of("a host"), ...how }),
      result: ofOne,
      permission: { ...read, resource: "host", id: ({ host }) => host },
      rest: route("/hosts/{host}/stats", "GetHostStats"),
      handler: ({ host, ...request }) => stats.ofHost(host, request),
    }),
    defineOperation({
      name: "vm.stats",
      summary: "What its host has measured of a running VM.",
      params: Type.Object({ id: of("a VM"), ...how }),
      result: ofOne,
      permission: { ...read, resource: "VM" },
      rest: route("/vms/{id}/stats", "GetVmStats"),
      handler: ({ id, ...request }) => stats.ofVm(id, request),
    }),
    defineOperation({
      name: "pool.stats",
      summary: "What the hosts of a pool have measured of themselves.",
      params: Type.Object({ id: of("a pool"), ...how }),
      result: ofHosts,
      permission: { ...read, resource: "pool" },
      rest: route("/pools/{id}/stats", "GetStats"),
      handler: async ({ id, ...request }, context) =>
        stats.ofHosts(await hostsOf(id, readableTo(context)("host")), request),
    }),
    defineOperation({
      name: "sr.stats",
      summary: "Input and output of an SR as each of its hosts sees them.",
      params: Type.Object({ id: of("an SR"), ...how }),
      result: ofHosts,
      permission: { ...read, resource: "SR" },
      handler: ({ id, ...request }, context) => {
        const hosts = plugsOf(id, objects).filter((host) =>
          isReadable(host, context, objects),
        );
        return stats.ofSr(id, hosts, request);
      },
    }),
  ];
}

/** Hosts that an SR is plugged into. */
function plugsOf(id: string, objects: PoolObjects): readonly string[] {
  const pbds = objects.get(id, "SR").object["$PBDs"] as readonly string[];
  return pbds.flatMap((pbd) => {
    const { attached, host } = objects.get(pbd, "PBD").object;
    return attached === true && typeof host === "string" ? [host] : [];
  });
}

function isReadable(id: string, context: CallContext, objects: PoolObjects) {
  const test = readableTo(context)("host");
  return test === undefined || test(objects.get(id, "host").object);
}
