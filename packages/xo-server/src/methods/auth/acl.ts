import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import { defineOperation } from "../definition/define-operation.js";
import type { Services } from "../definition/services.js";
import { unloadedPools } from "../../pools/unloaded-pools.js";
import { requireUser } from "./token.js";

const levels = ["viewer", "operator", "admin"] as const;
const acl = Type.Object(
  {
    subject: Type.String({
      minLength: 1,
      description: "Id of a user or a group.",
    }),
    object: Type.String({
      minLength: 1,
      description: "Id of an object of any type.",
    }),
    action: Type.Enum(levels, {
      description: "Level of the ACL; each level includes the ones before.",
    }),
  },
  { additionalProperties: false },
);
/** Permissions by level, as clients name them; each includes the previous ones. */
const words = ["view", "operate", "administrate"] as const;
const wordsOf = (level: string) =>
  words.slice(0, levels.indexOf(level as (typeof levels)[number]) + 1);

const aclGet = defineOperation({
  name: "acl.get",
  summary: "List all ACLs.",
  params: Type.Object({}),
  result: Type.Array(
    Type.Object({
      id: Type.String(),
      ...acl.properties,
      action: Type.String(),
    }),
  ),
  permission: "admin",
  handler: (_params, { services }) =>
    Array.from(
      services.store.acls.list(),
      ({ id, subject, object, action }) => ({
        id,
        subject,
        object,
        action,
      }),
    ),
});

const aclAdd = defineOperation({
  name: "acl.add",
  summary: "Grant an ACL on an object to a user or a group.",
  params: acl,
  result: Type.Boolean(),
  permission: "admin",
  changes: true,
  async handler(one, { services }) {
    const { subject: id } = one;
    if (
      services.store.users.get(id) === undefined &&
      services.store.groups.get(id) === undefined
    )
      throw new XoError("NO_SUCH_OBJECT", { type: "user or group", id });
    if (!isKnown(one.object, services))
      throw unknownObject(one.object, services);
    await services.store.acls.add(one);
    return true;
  },
});

/**
 * Whether the id belongs to an object of a pool or to a resource set. An opaque
 * reference finds an object too, but rights compare ids.
 */
function isKnown(
  id: string,
  { catalog, store }: Pick<Services, "catalog" | "store">,
): boolean {
  return catalog.get(id)?.id === id || store.resourceSets.get(id) !== undefined;
}

/**
 * The error for an unknown id. An object of a pool that is not loaded may exist, so
 * its id cannot be checked.
 */
function unknownObject(id: string, services: Services): XoError {
  const pools = unloadedPools(services);
  return pools.length === 0
    ? new XoError("NO_SUCH_OBJECT", { type: "object", id })
    : new XoError("OBJECT_NOT_LOADED", { id, pools: pools.join(", ") });
}

/** The object need not exist any more. */
const aclRemove = defineOperation({
  name: "acl.remove",
  summary: "Revoke an ACL.",
  params: acl,
  result: Type.Boolean(),
  permission: "admin",
  changes: true,
  async handler(one, { services }) {
    await services.store.acls.remove(one);
    return true;
  },
});

const aclGetCurrentPermissions = defineOperation({
  name: "acl.getCurrentPermissions",
  summary: "Return the ACLs of the current user by object.",
  params: Type.Object({}),
  result: Type.Record(
    Type.String(),
    Type.Record(Type.String(), Type.Integer()),
  ),
  permission: "user",
  handler(_, context) {
    const { id, groups } = requireUser(context);
    const held = new Map<string, Record<string, number>>();
    for (const subject of [id, ...groups])
      for (const { object, action } of context.services.store.acls.ofSubject(
        subject,
      )) {
        const permissions = held.get(object) ?? {};
        for (const word of wordsOf(action)) permissions[word] = 1;
        held.set(object, permissions);
      }
    return Object.fromEntries(held);
  },
});

const roleGetAll = defineOperation({
  name: "role.getAll",
  summary: "List the ACL levels.",
  params: Type.Object({}),
  result: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      permissions: Type.Array(Type.String()),
    }),
  ),
  permission: "user",
  handler: () =>
    levels.map((level) => ({
      id: level,
      name: level,
      permissions: [...wordsOf(level)],
    })),
});

/** ACLs of Xen Orchestra: one subject, one object, one level. */
export const aclOperations = [
  aclGet,
  aclAdd,
  aclRemove,
  aclGetCurrentPermissions,
  roleGetAll,
];
