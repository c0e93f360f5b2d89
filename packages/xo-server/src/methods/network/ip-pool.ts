import { Type } from "typebox";
import { totalOf, type IpPool } from "../../ip-pools/ip-pools.js";
import {
  readUsedAddresses,
  usedOf,
  type UsedAddress,
} from "../../ip-pools/used-addresses.js";
import { defineOperation } from "../definition/define-operation.js";

const id = Type.String({
  minLength: 1,
  maxLength: 128,
  description: "Id of an IP pool.",
});
const closed = { additionalProperties: false } as const;
const parts = {
  networks: Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
    maxItems: 1_000,
    description: "Ids of the networks whose VIFs may use the addresses.",
  }),
  addresses: Type.Array(Type.String({ minLength: 2, maxLength: 128 }), {
    maxItems: 256,
    description:
      "Addresses, ranges (`10.0.0.10-10.0.0.99`) and networks (`10.0.1.0/24`, `fd00::/112`), which must not overlap.",
  }),
};
const name = Type.String({
  minLength: 1,
  maxLength: 256,
  description: "Name of the IP pool.",
});
const change = { permission: "admin", changes: true } as const;

const PublicPool = Type.Object({
  id: Type.String(),
  name: Type.String(),
  networks: Type.Array(Type.String()),
  addresses: Type.Array(Type.String()),
  total: Type.Number({ description: "Number of addresses." }),
  used: Type.Number({
    description: "Number of addresses that VIFs on the networks may use.",
  }),
});

const ipPoolGetAll = defineOperation({
  name: "ipPool.getAll",
  summary:
    "List the IP pools with their usage: for administrators all, for other users those of their resource sets.",
  params: Type.Object({}),
  result: Type.Array(PublicPool),
  permission: "user",
  async handler(_params, { user, services }) {
    if (user === undefined) return [];
    const { ipPools, catalog, queries, resourceSets } = services;
    const sets = user.isAdmin ? [] : await resourceSets.list(user);
    const usable = new Set(sets.flatMap((set) => [...set.ipPools]));
    const pools = ipPools
      .list()
      .filter((pool) => user.isAdmin || usable.has(pool.id));
    if (pools.length === 0) return [];
    const used = await readUsedAddresses({ catalog, queries });
    return pools.map((pool) => toPublic(pool, used));
  },
});

const ipPoolCreate = defineOperation({
  ...change,
  name: "ipPool.create",
  summary:
    "Create an IP pool and return its id. New VIFs of VMs in a resource set with this pool get a free address of it and may use no other.",
  params: Type.Object(
    {
      name,
      networks: Type.Optional(parts.networks),
      addresses: Type.Optional(parts.addresses),
    },
    closed,
  ),
  result: Type.String(),
  handler: ({ networks = [], addresses = [], ...rest }, { services }) =>
    services.ipPools.create({ networks, addresses, ...rest }),
});

const ipPoolSet = defineOperation({
  ...change,
  name: "ipPool.set",
  summary:
    "Change an IP pool. Absent properties and the addresses of existing VIFs are not changed.",
  params: Type.Object(
    {
      id,
      name: Type.Optional(name),
      networks: Type.Optional(parts.networks),
      addresses: Type.Optional(parts.addresses),
    },
    closed,
  ),
  result: Type.Boolean(),
  async handler({ id: poolId, ...changes }, { services }) {
    await services.ipPools.set(poolId, changes);
    return true;
  },
});

const ipPoolDelete = defineOperation({
  ...change,
  name: "ipPool.delete",
  summary: "Delete an IP pool. The addresses of existing VIFs are not changed.",
  params: Type.Object({ id }, closed),
  result: Type.Boolean(),
  async handler(params, { services }) {
    await services.ipPools.delete(params.id);
    return true;
  },
});

function toPublic(pool: IpPool, used: readonly UsedAddress[]) {
  return {
    id: pool.id,
    name: pool.name,
    networks: [...pool.networks],
    addresses: [...pool.addresses],
    total: totalOf(pool),
    used: usedOf(pool, used).length,
  };
}

/** Addresses for VMs of resource sets. */
export const ipPoolOperations = [
  ipPoolGetAll,
  ipPoolCreate,
  ipPoolSet,
  ipPoolDelete,
];
