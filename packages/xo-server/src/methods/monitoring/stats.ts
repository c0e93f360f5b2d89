import { hostsOfPool } from "../pool/pool-hosts.js";
import { Type } from "typebox";
import type { RawJson } from "../../encoding/raw-json.js";
import type { PoolObjects } from "../../objects/pool-objects.js";
import { readableTo } from "../../objects/readable.js";
import type { CallContext } from "../../operations/operation.js";
import { defineOperation } from "../definition/define-operation.js";
import type { RestRoute } from "../../operations/rest-route.js";
import { granularities } from "../../stats/granularity.js";

const how = {
  granularity: Type.Optional(
    Type.Enum([...granularities], {
      description:
        "Interval between two points: 5 s (default), a minute, an hour or a day.",
    }),
  ),
  start: Type.Optional(
    Type.Integer({
      description:
        "Only points after this time, in s since the epoch, such as endTimestamp of the previous response.",
    }),
  ),
};
const of = (what: string) =>
  Type.String({ minLength: 1, description: `Id of ${what}.` });

const read = {
  action: "read" as const,
  id: ({ id }: { id: string }) => id,
};

const ofOne = Type.Unsafe<RawJson>(
  Type.Object({
    endTimestamp: Type.Integer({
      description: "Time of the last point, in seconds since the epoch.",
    }),
    interval: Type.Integer({
      description: "Time between two points, in seconds.",
    }),
    stats: Type.Object(
      {},
      { description: "Values, oldest first; null: missing." },
    ),
  }),
);
const ofHosts = Type.Unsafe<RawJson>(
  Type.Object({}, { description: "Statistics of the hosts, by their ids." }),
);

const route = (path: string, operationId: string): RestRoute => ({
  method: "get",
  path,
  operationId,
  exposure: "deny",
});

const hostStats = defineOperation({
  name: "host.stats",
  summary: "Return statistics of a host.",
  params: Type.Object({ host: of("a host"), ...how }),
  result: ofOne,
  permission: { ...read, resource: "host", id: ({ host }) => host },
  rest: route("/hosts/{host}/stats", "GetHostStats"),
  handler: ({ host, ...request }, { services }) =>
    services.objectStats.ofHost(host, request),
});

const vmStats = defineOperation({
  name: "vm.stats",
  summary: "Return statistics of a running VM.",
  params: Type.Object({ id: of("a VM"), ...how }),
  result: ofOne,
  permission: { ...read, resource: "VM" },
  rest: route("/vms/{id}/stats", "GetVmStats"),
  handler: ({ id, ...request }, { services }) =>
    services.objectStats.ofVm(id, request),
});

const poolStats = defineOperation({
  name: "pool.stats",
  summary: "Return statistics of the hosts of a pool.",
  params: Type.Object({ id: of("a pool"), ...how }),
  result: ofHosts,
  permission: { ...read, resource: "pool" },
  rest: route("/pools/{id}/stats", "GetStats"),
  handler: async ({ id, ...request }, context) =>
    context.services.objectStats.ofHosts(
      await hostsOfPool(
        context.services.queries,
        id,
        readableTo(context)("host"),
      ),
      request,
    ),
});

const srStats = defineOperation({
  name: "sr.stats",
  summary: "Return I/O statistics of an SR, for each of its hosts.",
  params: Type.Object({ id: of("an SR"), ...how }),
  result: ofHosts,
  permission: { ...read, resource: "SR" },
  handler: ({ id, ...request }, context) => {
    const hosts = plugsOf(id, context.objects).filter((host) =>
      isReadable(host, context, context.objects),
    );
    return context.services.objectStats.ofSr(id, hosts, request);
  },
});

/** Hosts to which an SR is connected. */
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

/** Statistics of hosts (RRDs) in the format of Xen Orchestra, see docs/statistics.md. */
export const statsOperations = [hostStats, vmStats, poolStats, srStats];
