import { monotonicClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import { requestLeave } from "../../cluster/request-leave.js";
import { isLost, listClusterServers } from "../../status/cluster-servers.js";
import { defineOperation } from "../definition/define-operation.js";

const milliseconds = (description: string) => Type.Integer({ description });

const lease = Type.Object({
  subject: Type.String({
    description: "Subject of the lease, such as a pool.",
  }),
  epoch: Type.Integer({
    description:
      "Epoch of the lease, which increases each time the lease is acquired.",
  }),
  takenAt: milliseconds("Time, in ms since the epoch."),
  expiresInMs: milliseconds(
    "Time at which the lease expires unless it is renewed, in ms since the epoch.",
  ),
});

const server = Type.Object({
  name: Type.String(),
  isThisServer: Type.Boolean({
    description: "Whether it is the server that answers this request.",
  }),
  url: Type.String({ description: "Empty if unknown." }),
  version: Type.String(),
  startedAt: milliseconds("Time, in ms since the epoch."),
  seenAt: milliseconds("Last heartbeat, in ms since the epoch."),
  silentMs: milliseconds("Time since the last heartbeat, in ms."),
  state: Type.Enum(["running", "leaving", "lost"]),
  leases: Type.Array(lease),
});

const name = Type.String({
  minLength: 1,
  maxLength: 255,
  description: "Name of the server.",
});

const clusterListServers = defineOperation({
  name: "cluster.listServers",
  summary:
    "List the servers that share the database, with version, last heartbeat and leases. A server without a heartbeat for 10 s is `lost`.",
  params: Type.Object({}, { additionalProperties: false }),
  result: Type.Array(server),
  permission: "admin",
  rest: {
    method: "get",
    path: "/cluster/servers",
    operationId: "GetClusterServers",
  },
  handler: (_, { services }) =>
    listClusterServers(services.store, services.cluster.self.owner),
});

export const clusterRemoveServer = defineOperation({
  name: "cluster.removeServer",
  summary:
    "Remove a lost server from the list. It is added again when it starts.",
  params: Type.Object({ name }, { additionalProperties: false }),
  result: Type.Boolean(),
  permission: "admin",
  changes: true,
  rest: {
    method: "delete",
    path: "/cluster/servers/{name}",
    operationId: "DeleteClusterServer",
  },
  async handler({ name }, { services }) {
    const { store } = services;
    const servers = await store.clusterServers.list();
    const found = servers.find((one) => one.name === name);
    if (found === undefined)
      throw new XoError("NO_SUCH_OBJECT", { type: "server", id: name });
    if (!isLost(found, store.engine))
      throw new XoError("FORBIDDEN_OPERATION", {
        operation: "remove server",
        reason: `${name} is running; stop it first`,
      });
    await store.clusterServers.delete(name, found.instance);
    return true;
  },
});

const clusterLeave = defineOperation({
  name: "cluster.leave",
  summary:
    "Hand over all leases of a running server (drain): it acquires no others until its next start. Its clients stay connected and its tasks continue. Returns when other servers have acquired the leases, or after 10 s.",
  params: Type.Object(
    {
      name,
      force: Type.Optional(
        Type.Boolean({
          description: "Hand over even if no other server is running.",
        }),
      ),
    },
    { additionalProperties: false },
  ),
  result: Type.Object({
    moved: Type.Array(
      Type.Object({
        subject: Type.String(),
        to: Type.String({ description: "Name of the new owner." }),
      }),
    ),
    free: Type.Array(Type.String(), {
      description: "Leases that no server has acquired yet.",
    }),
    remaining: Type.Array(Type.String(), {
      description:
        "Subjects of leases that cannot be handed over now: they are handed over when their work ends, or when the server stops.",
    }),
  }),
  permission: "admin",
  changes: true,
  rest: {
    method: "post",
    path: "/cluster/servers/{name}/leave",
    operationId: "LeaveCluster",
  },
  handler: ({ name, force = false }, { services }) =>
    requestLeave(name, force, { store: services.store, clock: monotonicClock }),
});

export const clusterOperations = [
  clusterListServers,
  clusterRemoveServer,
  clusterLeave,
];
