import { XoError } from "@xo-server/model";
import type { Role, Store, Subject } from "@xo-server/store";
import { Type } from "typebox";
import { defineOperation, type Operation } from "../operations/operation.js";

const id = Type.String({ minLength: 1, description: "Of a role." });
const name = Type.String({ minLength: 1, maxLength: 1024 });
const description = Type.String({ maxLength: 1024 });
const closed = { additionalProperties: false } as const;
const PublicRole = Type.Object({
  id: Type.String(),
  name: Type.String(),
  description: Type.Optional(Type.String()),
  isTemplate: Type.Optional(Type.Boolean()),
});
const example = {
  id: "93cdeb2a-70d6-4e1d-9a2c-1c2b3f6e7a10",
  name: "operator",
  isTemplate: true,
};
const change = { permission: "admin", changes: true } as const;

/** A role that can be changed. @throws XoError NO_SUCH_OBJECT, INVALID_PARAMETERS for one that comes with the program */
export function requireOwnRole(roles: Store["roles"], id: string): Role {
  const role = roles.get(id);
  if (role === undefined)
    throw new XoError("NO_SUCH_OBJECT", { type: "role", id });
  if (role.isTemplate)
    throw new XoError("INVALID_PARAMETERS", {
      reason: `${role.name} comes with the program and cannot be changed: copy it`,
      errors: [],
    });
  return role;
}

/** Roles, and who has them. `role.getAll` is about the older kind of rights: see acl.ts. */
export function roleMethods(
  store: Pick<Store, "roles" | "grants">,
): Operation[] {
  const { roles, grants } = store;
  const toPublic = ({ id, name, description, isTemplate }: Role) => ({
    id,
    name,
    ...(description === "" ? {} : { description }),
    ...(isTemplate ? { isTemplate } : {}),
  });

  return [
    defineOperation({
      name: "role.list",
      summary: "All roles: viewer, operator, admin, and those that were made.",
      params: Type.Object({}),
      result: Type.Array(PublicRole),
      permission: "admin",
      rest: {
        method: "get",
        path: "/acl-roles",
        operationId: "GetAclV2Roles",
        exposure: "allow",
        example: [example],
      },
      handler: () => Array.from(roles.list(), toPublic),
    }),
    defineOperation({
      name: "role.get",
      summary: "One role.",
      params: Type.Object({ id }, closed),
      result: PublicRole,
      permission: "admin",
      rest: {
        method: "get",
        path: "/acl-roles/{id}",
        operationId: "GetAclV2Role",
        exposure: "allow",
        example,
      },
      handler({ id }) {
        const role = roles.get(id);
        if (role === undefined)
          throw new XoError("NO_SUCH_OBJECT", { type: "role", id });
        return toPublic(role);
      },
    }),
    defineOperation({
      name: "role.create",
      summary: "A new role, which allows nothing yet.",
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
      handler: async (role) => (await roles.create(role)).id,
    }),
    defineOperation({
      name: "role.set",
      summary: "Another name or description of a role.",
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
      async handler({ id, ...patch }) {
        requireOwnRole(roles, id);
        await roles.update(id, patch);
        return true;
      },
    }),
    defineOperation({
      name: "role.delete",
      summary: "Deletes a role; who had it has it no more.",
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
      async handler({ id }) {
        requireOwnRole(roles, id);
        await roles.delete(id);
        return true;
      },
    }),
    ...grantMethods(grants),
  ];
}

const places = {
  user: { key: "userId", give: "AttachAclV2User", take: "DetachAclV2User" },
  group: { key: "groupId", give: "AttachAclV2Group", take: "DetachAclV2Group" },
} as const;

function grantMethods(grants: Store["grants"]): Operation[] {
  return (["user", "group"] as const).flatMap((type) => {
    const { key, give, take } = places[type];
    const noun = type === "user" ? "User" : "Group";
    const shape = {
      params: Type.Object({ id, [key]: Type.String({ minLength: 1 }) }, closed),
      result: Type.Boolean(),
      ...change,
    };
    const rest = {
      path: `/acl-roles/{id}/${type}s/{${key}}`,
      exposure: "confirm",
      status: 204,
    } as const;
    // A key that is computed is lost to the types; the schema has checked both.
    const textOf = (params: object, name: string) =>
      Reflect.get(params, name) as string;
    const subjectOf = (params: object): Subject => ({
      type,
      id: textOf(params, key),
    });
    return [
      defineOperation({
        name: `role.addTo${noun}`,
        summary: `Gives a ${type} a role.`,
        ...shape,
        rest: { ...rest, method: "put", operationId: give },
        async handler(params) {
          await grants.add(textOf(params, "id"), subjectOf(params));
          return true;
        },
      }),
      defineOperation({
        name: `role.removeFrom${noun}`,
        summary: `Takes a role away from a ${type}.`,
        ...shape,
        rest: { ...rest, method: "delete", operationId: take },
        async handler(params) {
          await grants.remove(textOf(params, "id"), subjectOf(params));
          return true;
        },
      }),
    ];
  });
}
