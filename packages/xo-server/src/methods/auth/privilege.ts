import { XoError } from "@xo-server/model";
import type { Privilege } from "@xo-server/store";
import { Type } from "typebox";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { checkSelectorProperties } from "../../objects/known-properties.js";
import { actions } from "../../rights/actions.js";
import {
  checkActionName,
  checkResourceName,
  resources,
} from "../../rights/check-names.js";
import { requireOwnRole } from "./role.js";

const id = Type.String({ minLength: 1, description: "Id of a privilege." });
const closed = { additionalProperties: false } as const;
const word = { minLength: 1, maxLength: 256 } as const;
const parts = {
  effect: Type.Enum(["allow", "deny"] as const, {
    description:
      "Whether the privilege allows or denies the action; a denial takes precedence.",
  }),
  resource: Type.String({
    ...word,
    description:
      "Object type, such as VM; `*`: all types of objects of pools. user, group, acl-role and acl-privilege are not included in `*`.",
  }),
  action: Type.String({
    ...word,
    description: "Action, such as `read` or `operate:start`; `*`: all actions.",
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

const privilegeCreate = defineOperation({
  name: "privilege.create",
  summary: "Add a privilege to a role and return its id.",
  params: Type.Object(
    {
      roleId: Type.String({ minLength: 1, description: "Id of a role." }),
      ...parts,
      selector,
    },
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
    const checked = { ...privilege, ...check(privilege) };
    return (await services.store.privileges.create(checked)).id;
  },
});

const privilegeSet = defineOperation({
  name: "privilege.set",
  summary: "Change a privilege.",
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
    const { privileges, roles } = context.services.store;
    const present = find(context, id);
    requireOwnRole(roles, present.roleId);
    const { resource } = check({ ...present, ...patch });
    await privileges.update(id, { ...patch, resource });
    return true;
  },
});

const privilegeDelete = defineOperation({
  name: "privilege.delete",
  summary: "Remove a privilege from its role.",
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

/**
 * Checks the name of a resource, because a misspelt name would silently allow or
 * deny nothing.
 * @returns the resource as the API writes it: other tools write `vm`
 * @throws XoError INVALID_PARAMETERS with the nearest name
 */
function check({
  action,
  resource,
  selector,
}: Pick<Privilege, "action" | "resource" | "selector">): {
  readonly resource: string;
} {
  checkActionName(action);
  const type = checkResourceName(resource);
  if (typeof selector === "string" && selector.trim() !== "")
    try {
      checkSelectorProperties(type, selector);
    } catch (error) {
      const { data, message } = error as XoError;
      const known = data["reason"];
      const reason = `selector: ${typeof known === "string" ? known : message}`;
      const location = { instancePath: "/selector", keyword: "filter" };
      const errors = [{ ...location, message: reason }];
      throw new XoError("INVALID_PARAMETERS", { reason, errors }, error);
    }
  return { resource: type };
}

const privilegeGetNames = defineOperation({
  name: "privilege.getNames",
  summary: "List the actions and resources that a privilege can name.",
  params: Type.Object({}, closed),
  result: Type.Object({
    actions: Type.Array(Type.String()),
    resources: Type.Array(Type.String()),
  }),
  permission: "admin",
  handler: () => ({ actions: [...actions], resources: [...resources] }),
});

/** Privileges of roles. */
export const privilegeOperations = [
  privilegeGetNames,
  privilegeCreate,
  privilegeSet,
  privilegeDelete,
];
