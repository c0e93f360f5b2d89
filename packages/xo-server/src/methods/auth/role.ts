import { XoError } from "@xo-server/model";
import type { Role, Store, Subject } from "@xo-server/store";
import { Type } from "typebox";
import { defineOperation } from "../definition/define-operation.js";
import { privilegesOf } from "../../auth/users/public-role.js";

const id = Type.String({ minLength: 1, description: "Id of a role." });
const name = Type.String({
  minLength: 1,
  maxLength: 1024,
  description: "Name of the role.",
});
const description = Type.String({
  maxLength: 1024,
  description: "Description of the role.",
});
const closed = { additionalProperties: false } as const;
const change = { permission: "admin", changes: true } as const;

/**
 * A role that can be changed.
 * @throws XoError NO_SUCH_OBJECT; INVALID_PARAMETERS: a built-in role
 */
export function requireOwnRole(roles: Store["roles"], id: string): Role {
  const role = roles.get(id);
  if (role === undefined)
    throw new XoError("NO_SUCH_OBJECT", { type: "role", id });
  if (role.isTemplate)
    throw new XoError("INVALID_PARAMETERS", {
      reason: `${role.name} is built in and cannot be changed: copy it`,
      errors: [],
    });
  return role;
}

const roleCreate = defineOperation({
  name: "role.create",
  summary: "Create a role without privileges and return its id.",
  params: Type.Object(
    { name, description: Type.Optional(description) },
    closed,
  ),
  result: Type.String({ description: "Id of the role." }),
  ...change,
  rest: {
    method: "post",
    path: "/acl-roles",
    operationId: "CreateAclV2Role",
    exposure: "confirm",
    status: 201,
  },
  handler: async (role, { services }) =>
    (await services.store.roles.create(role)).id,
});

const roleSet = defineOperation({
  name: "role.set",
  summary: "Change the name or description of a role.",
  params: Type.Object(
    {
      id,
      name: Type.Optional(name),
      description: Type.Optional(description),
    },
    closed,
  ),
  result: Type.Boolean(),
  ...change,
  rest: {
    method: "patch",
    path: "/acl-roles/{id}",
    operationId: "UpdateAclV2Role",
    exposure: "confirm",
    status: 204,
  },
  async handler({ id, ...patch }, { services }) {
    requireOwnRole(services.store.roles, id);
    await services.store.roles.update(id, patch);
    return true;
  },
});

const roleDelete = defineOperation({
  name: "role.delete",
  summary: "Delete a role and revoke it from all users and groups.",
  params: Type.Object({ id }, closed),
  result: Type.Boolean(),
  ...change,
  rest: {
    method: "delete",
    path: "/acl-roles/{id}",
    operationId: "DeleteAclV2Role",
    exposure: "confirm",
    status: 204,
  },
  async handler({ id }, { services }) {
    requireOwnRole(services.store.roles, id);
    await services.store.roles.delete(id);
    return true;
  },
});

const roleCopy = defineOperation({
  name: "role.copy",
  summary: "Copy a role with its privileges.",
  params: Type.Object(
    {
      id,
      name: Type.Optional(name),
      description: Type.Optional(description),
    },
    closed,
  ),
  result: Type.String({ description: "Id of the new role." }),
  ...change,
  rest: {
    method: "post",
    path: "/acl-roles/{id}/actions/copy",
    operationId: "CopyAclV2Role",
    exposure: "confirm",
    isAction: true,
    creates: "acl-roles",
  },
  handler: ({ id, ...requested }, { services }) =>
    copyRole(services.store, id, requested),
});

/** @returns the id of the copy, which exists completely or not at all */
async function copyRole(
  store: Pick<Store, "roles" | "privileges">,
  id: string,
  requested: { readonly name?: string; readonly description?: string },
): Promise<string> {
  const { roles, privileges } = store;
  const role = roles.get(id);
  if (role === undefined)
    throw new XoError("NO_SUCH_OBJECT", { type: "role", id });
  const { name = `${role.name} (copy)`, description = role.description } =
    requested;
  const copy = await roles.create({ name, description });
  try {
    for (const { effect, resource, action, selector } of privilegesOf(
      role,
      store,
    ))
      await privileges.create({
        roleId: copy.id,
        effect,
        resource,
        action,
        ...(selector === undefined ? {} : { selector }),
      });
  } catch (error) {
    await roles.delete(copy.id);
    throw error;
  }
  return copy.id;
}

const grantees = {
  user: { key: "userId", give: "AttachAclV2User", take: "DetachAclV2User" },
  group: { key: "groupId", give: "AttachAclV2Group", take: "DetachAclV2Group" },
} as const;

const grantOperations = (["user", "group"] as const).flatMap((type) => {
  const { key, give, take } = grantees[type];
  const noun = type === "user" ? "User" : "Group";
  const shape = {
    params: Type.Object(
      {
        id,
        [key]: Type.String({ minLength: 1, description: `Id of a ${type}.` }),
      },
      closed,
    ),
    result: Type.Boolean(),
    ...change,
  };
  const rest = {
    path: `/acl-roles/{id}/${type}s/{${key}}`,
    exposure: "confirm",
    status: 204,
  } as const;
  // Type checks are lost for computed keys; the schema has validated both parameters.
  const textOf = (params: object, name: string) =>
    Reflect.get(params, name) as string;
  const subjectOf = (params: object): Subject => ({
    type,
    id: textOf(params, key),
  });
  return [
    defineOperation({
      name: `role.addTo${noun}`,
      summary: `Grant a role to a ${type}.`,
      ...shape,
      rest: { ...rest, method: "put", operationId: give },
      async handler(params, { services }) {
        await services.store.grants.add(
          textOf(params, "id"),
          subjectOf(params),
        );
        return true;
      },
    }),
    defineOperation({
      name: `role.removeFrom${noun}`,
      summary: `Revoke a role from a ${type}.`,
      ...shape,
      rest: { ...rest, method: "delete", operationId: take },
      async handler(params, { services }) {
        await services.store.grants.remove(
          textOf(params, "id"),
          subjectOf(params),
        );
        return true;
      },
    }),
  ];
});

/** Roles and their assignments. `role.getAll` returns the levels of ACLs, see acl.ts. */
export const roleOperations = [
  roleCreate,
  roleSet,
  roleDelete,
  roleCopy,
  ...grantOperations,
];
