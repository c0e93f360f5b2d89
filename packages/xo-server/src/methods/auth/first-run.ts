import { Type } from "typebox";
import { isAllowed } from "../../operations/operation.js";
import { defineOperation } from "../definition/define-operation.js";
import { demoStates } from "../../pools/demo-pools.js";

const FirstRun = Type.Object({
  pools: Type.Integer({
    description: "Number of enabled pool connections.",
  }),
  servers: Type.Integer({
    description: "Number of pool connections, including disabled ones.",
  }),
  canAddPools: Type.Boolean({
    description: "Whether the caller may add pools.",
  }),
  demo: Type.Enum([...demoStates]),
});

const closed = { additionalProperties: false } as const;

const systemGetFirstRun = defineOperation({
  name: "system.getFirstRun",
  summary:
    "Return the number of pools, whether the caller may add pools, and the state of the demonstration.",
  params: Type.Object({}, closed),
  result: FirstRun,
  permission: "user",
  handler: (_, { services, permission }) => {
    const ids = [
      ...services.pools.list(),
      ...services.store.servers.list(),
    ].map(({ id }) => id);
    return {
      pools: services.pools.list().length,
      servers: new Set(ids).size,
      canAddPools: isAllowed(permission, "admin"),
      demo: services.demoPools.state,
    };
  },
});

const serverOpenDemo = defineOperation({
  name: "server.openDemo",
  summary:
    "Start simulated pools for a demonstration and return their ids. They are removed at a restart.",
  params: Type.Object(
    {
      profiles: Type.Optional(
        Type.Array(Type.Enum(["A", "B", "C"]), {
          minItems: 1,
          maxItems: 3,
          uniqueItems: true,
          description:
            "A: 64 hosts and 5,000 VMs; B: 16 hosts and 600 VMs; C: 3 hosts and 60 VMs. Default: C.",
        }),
      ),
    },
    closed,
  ),
  result: Type.Array(Type.String()),
  permission: "admin",
  changes: true,
  handler: async ({ profiles = ["C"] }, { services }) => [
    ...(await services.demoPools.open(profiles)),
  ],
});

const serverCloseDemo = defineOperation({
  name: "server.closeDemo",
  summary: "Remove the simulated pools. Returns false if there were none.",
  params: Type.Object({}, closed),
  result: Type.Boolean(),
  permission: "admin",
  changes: true,
  handler: (_params, { services }) => services.demoPools.close(),
});

/** The steps to set up a new server. */
export const firstRunOperations = [
  systemGetFirstRun,
  serverOpenDemo,
  serverCloseDemo,
];
