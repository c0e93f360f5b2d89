import { XoError } from "@xo-server/model";
import type { Privilege, Store } from "@xo-server/store";
import { Type } from "typebox";
import { defineOperation, type Operation } from "../operations/operation.js";
import { isSelector } from "../people/rights-of.js";
import { builtInRoles } from "../rights/built-in-roles.js";
import { requireOwnRole } from "./role.js";

const id = Type.String({ minLength: 1, description: "Of a privilege." });
const closed = { additionalProperties: false } as const;
const word = { minLength: 1, maxLength: 256 } as const;
const parts = {
  effect: Type.Enum(["allow", "deny"] as const),
  resource: Type.String({
    ...word,
    description: "A type of objects, such as VM; `*`: all.",
  }),
  action: Type.String({
    ...word,
    description: "Such as `read` or `operate:start`; `*`: all.",
  }),
};
const selector = Type.Optional(
  Type.String({
    maxLength: 16_384,
    description: "Only objects that match, as filters of lists do.",
  }),
);
const PublicPrivilege = Type.Object({
  id: Type.String(),
  roleId: Type.String(),
  effect: Type.String(),
  resource: Type.String(),
  action: Type.String(),
  selector: Type.Optional(Type.Unknown()),
});
const example = {
  id: "1f2a5c0e-6e0d-4a5b-8c39-0f6d5f9f9f0a",
  roleId: "93cdeb2a-70d6-4e1d-9a2c-1c2b3f6e7a10",
  effect: "allow",
  resource: "VM",
  action: "operate",
  selector: "tags:prod",
};
const change = { permission: "admin", changes: true } as const;

/** What roles allow and deny. */
export function privilegeMethods(
  store: Pick<Store, "roles" | "privileges">,
): Operation[] {
  const { roles, privileges } = store;

  function find(id: string): Privilege {
    const found = privileges.get(id);
    if (found !== undefined) return found;
    throw new XoError("NO_SUCH_OBJECT", { type: "privilege", id });
  }

  return [
    defineOperation({
      name: "privilege.getAll",
      summary: "All privileges of all roles that were made here.",
      params: Type.Object({}),
      result: Type.Array(PublicPrivilege),
      permission: "admin",
      rest: {
        method: "get",
        path: "/acl-privileges",
        operationId: "GetAclV2Privileges",
        exposure: "allow",
        example: [example],
      },
      handler: () => [...privileges.list()],
    }),
    defineOperation({
      name: "privilege.get",
      summary: "One privilege.",
      params: Type.Object({ id }, closed),
      result: PublicPrivilege,
      permission: "admin",
      rest: {
        method: "get",
        path: "/acl-privileges/{id}",
        operationId: "GetAclV2Privilege",
        exposure: "allow",
        example,
      },
      handler: ({ id }) => find(id),
    }),
    defineOperation({
      name: "role.getPrivileges",
      summary: "What a role allows and denies.",
      params: Type.Object({ id: Type.String({ minLength: 1 }) }, closed),
      result: Type.Array(PublicPrivilege),
      permission: "admin",
      rest: {
        method: "get",
        path: "/acl-roles/{id}/privileges",
        operationId: "GetAclV2RolePrivileges",
        exposure: "allow",
        example: [example],
      },
      handler({ id }) {
        const role = roles.get(id);
        if (role === undefined)
          throw new XoError("NO_SUCH_OBJECT", { type: "role", id });
        if (!role.isTemplate) return [...privileges.ofRole(id)];
        const builtIn = builtInRoles.find(({ name }) => name === role.name);
        return (builtIn?.privileges ?? []).map((privilege, index) => ({
          id: `${id}/${index}`,
          roleId: id,
          ...privilege,
        }));
      },
    }),
    defineOperation({
      name: "privilege.create",
      summary: "Lets a role allow, or deny, something more.",
      params: Type.Object(
        { roleId: Type.String({ minLength: 1 }), ...parts, selector },
        closed,
      ),
      result: Type.String({ description: "Id of the privilege." }),
      ...change,
      rest: {
        method: "post",
        path: "/acl-privileges",
        operationId: "CreateAclV2Privilege",
        exposure: "confirm",
        status: 201,
      },
      async handler(privilege) {
        requireOwnRole(roles, privilege.roleId);
        checkSelector(privilege.selector);
        return (await privileges.create(privilege)).id;
      },
    }),
    defineOperation({
      name: "privilege.set",
      summary: "Changes a privilege.",
      params: Type.Object(
        { id, ...Type.Partial(Type.Object(parts)).properties, selector },
        closed,
      ),
      result: Type.Boolean(),
      ...change,
      rest: {
        method: "patch",
        path: "/acl-privileges/{id}",
        operationId: "UpdateAclV2Privilege",
        exposure: "confirm",
        status: 204,
      },
      async handler({ id, ...patch }) {
        requireOwnRole(roles, find(id).roleId);
        checkSelector(patch.selector);
        await privileges.update(id, patch);
        return true;
      },
    }),
    defineOperation({
      name: "privilege.delete",
      summary: "Takes a privilege out of its role.",
      params: Type.Object({ id }, closed),
      result: Type.Boolean(),
      ...change,
      rest: {
        method: "delete",
        path: "/acl-privileges/{id}",
        operationId: "DeleteAclV2Privilege",
        exposure: "confirm",
        status: 204,
      },
      async handler({ id }) {
        requireOwnRole(roles, find(id).roleId);
        await privileges.delete(id);
        return true;
      },
    }),
  ];
}

/** @throws XoError INVALID_PARAMETERS */
function checkSelector(selector: string | undefined): void {
  if (selector !== undefined && !isSelector(selector))
    throw new XoError("INVALID_PARAMETERS", {
      reason: "the selector is no filter",
      errors: [],
    });
}
