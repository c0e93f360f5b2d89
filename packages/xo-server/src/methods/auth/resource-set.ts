import type { NewResourceSet, Store } from "@xo-server/store";
import { Type, type Static } from "typebox";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import type { ResourceSets } from "../../resource-sets/resource-sets.js";

const id = Type.String({ minLength: 1, description: "Id of a resource set." });
const name = Type.String({
  minLength: 1,
  maxLength: 1024,
  description: "Name of the resource set.",
});
const quantity = Type.Integer({
  minimum: 0,
  description: "Quota, in the unit of `limitId`.",
});
const limitId = Type.String({
  pattern: "^[A-Za-z][\\w.:-]{0,127}$",
  description:
    "Name of the quota: `cpus`, `memory` (bytes), `disk` (bytes), `vms`, `snapshots` or `ipPool:ID` (addresses of an IP pool).",
});
const ids = (description: string) =>
  Type.Array(Type.String({ minLength: 1 }), { maxItems: 10_000, description });
const Limits = Type.Record(
  Type.String(),
  Type.Union([
    quantity,
    Type.Object({ total: quantity }, { additionalProperties: true }),
  ]),
  { description: "Quotas, by name; what has no quota is not limited." },
);
const closed = { additionalProperties: false } as const;

const PublicSet = Type.Object({
  id: Type.String(),
  name: Type.String(),
  subjects: Type.Array(Type.String()),
  objects: Type.Array(Type.String()),
  limits: Type.Record(
    Type.String(),
    Type.Object({
      total: Type.Number(),
      usage: Type.Number(),
      available: Type.Number(),
    }),
  ),
  tags: Type.Array(Type.String()),
  ipPools: Type.Array(Type.String()),
  shareByDefault: Type.Boolean(),
});

/** Members of all operations that change a resource set. */
const change = {
  result: Type.Boolean(),
  permission: "admin",
  changes: true,
} as const;

const update = async (
  { services }: Pick<OperationContext, "services">,
  setId: string,
  patch: Parameters<Store["resourceSets"]["update"]>[1],
): Promise<true> => {
  await services.store.resourceSets.update(setId, patch);
  return true;
};

const readable = async (setId: string, context: OperationContext) =>
  toMutable(await context.services.resourceSets.get(setId, context));

const resourceSetGetAll = defineOperation({
  name: "resourceSet.getAll",
  summary:
    "List the resource sets that the caller may use: for administrators all.",
  params: Type.Object({}),
  result: Type.Array(PublicSet),
  permission: "user",
  handler: async (_, { user, services }) =>
    user === undefined
      ? []
      : (await services.resourceSets.list(user)).map(toMutable),
});

const resourceSetGet = defineOperation({
  name: "resourceSet.get",
  summary: "Return a resource set with its usage.",
  params: Type.Object({ id }, closed),
  result: PublicSet,
  permission: "user",
  handler: (params, context) => readable(params.id, context),
});

const resourceSetCreate = defineOperation({
  ...change,
  name: "resourceSet.create",
  summary: "Create a resource set and return it.",
  params: Type.Object({ name, ...optionalParts() }, closed),
  result: PublicSet,
  async handler(input, context) {
    const set = await context.services.store.resourceSets.create({
      name: input.name,
      ...partsOf(input, context.services.resourceSets),
    });
    return readable(set.id, context);
  },
});

const resourceSetSet = defineOperation({
  ...change,
  name: "resourceSet.set",
  summary: "Change a resource set. Absent properties are not changed.",
  params: Type.Object(
    { id, name: Type.Optional(name), ...optionalParts() },
    closed,
  ),
  handler: ({ id: setId, name: newName, ...input }, context) =>
    update(context, setId, () => ({
      ...(newName === undefined ? {} : { name: newName }),
      ...partsOf(input, context.services.resourceSets),
    })),
});

const resourceSetDelete = defineOperation({
  ...change,
  name: "resourceSet.delete",
  summary: "Delete a resource set. Its VMs are not deleted.",
  params: Type.Object({ id }, closed),
  async handler(params, { services }) {
    await services.store.resourceSets.delete(params.id);
    return true;
  },
});

const resourceSetRecomputeAllLimits = defineOperation({
  ...change,
  name: "resourceSet.recomputeAllLimits",
  summary:
    "Do nothing, for clients of Xen Orchestra: the usage is always computed from the objects.",
  params: Type.Object({}),
  handler: () => true,
});

const object = Type.String({
  minLength: 1,
  description: "Id of a template, a network or an SR.",
});

const subject = Type.String({
  minLength: 1,
  description: "Id of a user or a group.",
});

const setObjects = (
  { services }: Pick<OperationContext, "services">,
  objects: readonly string[],
) => ({
  objects,
  pools: services.resourceSets.poolsOf(objects),
});

const resourceSetAddObject = defineOperation({
  ...change,
  name: "resourceSet.addObject",
  summary:
    "Add a template, a network or an SR to a resource set, for use by its users.",
  params: Type.Object({ id, object }, closed),
  handler: (input, context) =>
    update(context, input.id, ({ objects }) =>
      setObjects(context, [...objects, input.object]),
    ),
});

const resourceSetRemoveObject = defineOperation({
  ...change,
  name: "resourceSet.removeObject",
  summary: "Remove a template, a network or an SR from a resource set.",
  params: Type.Object({ id, object }, closed),
  handler: (input, context) =>
    update(context, input.id, ({ objects }) =>
      setObjects(
        context,
        objects.filter((one) => one !== input.object),
      ),
    ),
});

const resourceSetAddSubject = defineOperation({
  ...change,
  name: "resourceSet.addSubject",
  summary: "Add a user or a group to a resource set.",
  params: Type.Object({ id, subject }, closed),
  handler: (input, context) =>
    update(context, input.id, ({ subjects }) => ({
      subjects: [...subjects, input.subject],
    })),
});

const resourceSetRemoveSubject = defineOperation({
  ...change,
  name: "resourceSet.removeSubject",
  summary: "Remove a user or a group from a resource set.",
  params: Type.Object({ id, subject }, closed),
  handler: (input, context) =>
    update(context, input.id, ({ subjects }) => ({
      subjects: subjects.filter((one) => one !== input.subject),
    })),
});

const memberOperations = [
  resourceSetAddObject,
  resourceSetRemoveObject,
  resourceSetAddSubject,
  resourceSetRemoveSubject,
];

const resourceSetAddLimit = defineOperation({
  ...change,
  name: "resourceSet.addLimit",
  summary: "Set a quota of a resource set.",
  params: Type.Object({ id, limitId, quantity }, closed),
  handler: (input, context) =>
    update(context, input.id, ({ limits }) => ({
      limits: { ...limits, [input.limitId]: input.quantity },
    })),
});

const resourceSetRemoveLimit = defineOperation({
  ...change,
  name: "resourceSet.removeLimit",
  summary: "Remove a quota of a resource set.",
  params: Type.Object({ id, limitId }, closed),
  handler: (input, context) =>
    update(context, input.id, ({ limits }) => ({
      limits: Object.fromEntries(
        Object.entries(limits).filter(([key]) => key !== input.limitId),
      ),
    })),
});

const limitOperations = [resourceSetAddLimit, resourceSetRemoveLimit];

function optionalParts() {
  return {
    subjects: Type.Optional(ids("Ids of users and groups.")),
    objects: Type.Optional(ids("Ids of templates, networks and SRs.")),
    limits: Type.Optional(Limits),
    tags: Type.Optional(ids("Tags of the resource set.")),
    ipPools: Type.Optional(ids("Ids of IP pools.")),
    shareByDefault: Type.Optional(
      Type.Boolean({
        description: "Whether new VMs are shared with all users of the set.",
      }),
    ),
  };
}

interface PartsInput {
  readonly subjects?: readonly string[];
  readonly objects?: readonly string[];
  readonly limits?: Static<typeof Limits>;
  readonly tags?: readonly string[];
  readonly ipPools?: readonly string[];
  readonly shareByDefault?: boolean;
}

function partsOf(
  { limits, objects, ...others }: PartsInput,
  sets: Pick<ResourceSets, "poolsOf">,
): Partial<NewResourceSet> {
  return {
    ...others,
    ...(objects === undefined ? {} : { objects, pools: sets.poolsOf(objects) }),
    ...(limits === undefined ? {} : { limits: toTotals(limits) }),
  };
}

function toTotals(limits: Static<typeof Limits>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(limits).map(([key, limit]) => [
      key,
      typeof limit === "number" ? limit : limit.total,
    ]),
  );
}

function toMutable(set: object): Static<typeof PublicSet> {
  return set as Static<typeof PublicSet>;
}

/** Resources from which users may create VMs, with quotas. */
export const resourceSetOperations = [
  resourceSetGetAll,
  resourceSetGet,
  resourceSetCreate,
  resourceSetSet,
  resourceSetDelete,
  ...memberOperations,
  ...limitOperations,
  resourceSetRecomputeAllLimits,
];
