import { XoError } from "@xo-server/model";
import type { Privilege } from "@xo-server/store";
import { Type } from "typebox";
import { defineOperation, type OperationContext } from "./define-operation.js";
import { isSelector } from "../auth/rights-cache.js";
import { requireOwnRole } from "./role.js";

const id = Type.String({ minLength: 1, description: "Of a privilege." });
const closed = { additionalProperties: false } as const;
const word = { minLength: 1, maxLength: 256 } as const;
const parts = {
  effect: Type.Enum(["allow", "deny"] as const),
  resource: Type.String({
    ...word,
    description:
      "An object type, such as VM; `*`: all types of pools. The types user, group, acl-role and acl-privilege must be named.",
  }),
  action: Type.String({
    ...word,
    description: "Such as `read` or `operate:start`; `*`: all.",
  }),
};
const selector = Type.Optional(
  Type.String({
    maxLength: 16_384,
    description: "Filter expression that objects must match.",
  }),
);
const change = { permission: "admin", changes: true } as const;

function find(
  { services }: Pick<OperationContext, "services">,
  id: string,
): Privilege {
  const found = services.store.privileges.get(id);
  if (found !== undefined) return found;
  throw new XoError("NO_SUCH_OBJECT", { type: "privilege", id });
}

export const privilegeCreate = defineOperation({
  name: "privilege.create",
  summary: "Adds a privilege to a role.",
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
  async handler(privilege, { services }) {
    requireOwnRole(services.store.roles, privilege.roleId);
    checkSelector(privilege.selector);
    return (await services.store.privileges.create(privilege)).id;
  },
});

export const privilegeSet = defineOperation({
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
  async handler({ id, ...patch }, context) {
    requireOwnRole(context.services.store.roles, find(context, id).roleId);
    checkSelector(patch.selector);
    await context.services.store.privileges.update(id, patch);
    return true;
  },
});

export const privilegeDelete = defineOperation({
  name: "privilege.delete",
  summary: "Removes a privilege from its role.",
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
  async handler({ id }, context) {
    requireOwnRole(context.services.store.roles, find(context, id).roleId);
    await context.services.store.privileges.delete(id);
    return true;
  },
});

/** @throws XoError INVALID_PARAMETERS */
function checkSelector(selector: string | undefined): void {
  if (selector !== undefined && !isSelector(selector))
    throw new XoError("INVALID_PARAMETERS", {
      reason: "the selector is no filter",
      errors: [],
    });
}

/** What roles allow and deny. */
export const privilegeOperations = [
  privilegeCreate,
  privilegeSet,
  privilegeDelete,
];
