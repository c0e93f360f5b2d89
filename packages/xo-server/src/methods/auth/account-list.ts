import { Type, type TSchema } from "typebox";
import type { Operation } from "../../operations/operation.js";
import { defineOperation } from "../definition/define-operation.js";
import type { Services } from "../definition/services.js";
import type { RestRoute } from "../../operations/rest-route.js";
import { PublicGroup, groupExample } from "../../auth/users/public-group.js";
import {
  PublicPrivilege,
  PublicRole,
  privilegeExample,
  roleExample,
} from "../../auth/users/public-role.js";
import { PublicUser, userExample } from "../../auth/users/public-user.js";
import { VisibleAccounts } from "../../auth/users/visible-accounts.js";
import { requireUser } from "./token.js";

interface Noun {
  readonly schema: TSchema;
  readonly example: unknown;
}

const user: Noun = { schema: PublicUser, example: userExample };
const group: Noun = { schema: PublicGroup, example: groupExample };
const role: Noun = { schema: PublicRole, example: roleExample };
const privilege: Noun = { schema: PublicPrivilege, example: privilegeExample };

/** A read operation, with its names in JSON-RPC and REST. */
interface ReadOperation {
  readonly name: string;
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly noun: Noun;
  /** @param id of the object at the start of the path; empty: the path has none */
  readonly read: (accounts: VisibleAccounts, id: string) => unknown;
}

const lists: readonly ReadOperation[] = [
  {
    name: "user.list",
    path: "/users",
    operationId: "GetUsers",
    summary:
      "List users. Users without the permission admin get themselves and those that their privileges name.",
    noun: user,
    read: (accounts) => accounts.users(),
  },
  {
    name: "group.list",
    path: "/groups",
    operationId: "GetGroups",
    summary:
      "List groups. Users without the permission admin get their own groups and those that their privileges name.",
    noun: group,
    read: (accounts) => accounts.groups(),
  },
  {
    name: "role.list",
    path: "/acl-roles",
    operationId: "GetAclV2Roles",
    summary:
      "List roles. Users without the permission admin get their own roles and those that their privileges name.",
    noun: role,
    read: (accounts) => accounts.roles(),
  },
  {
    name: "privilege.getAll",
    path: "/acl-privileges",
    operationId: "GetAclV2Privileges",
    summary: "List the privileges of all roles except the predefined ones.",
    noun: privilege,
    read: (accounts) => accounts.privileges(),
  },
  {
    name: "user.getGroups",
    path: "/users/{id}/groups",
    operationId: "GetUserGroups",
    summary: "List the groups of a user.",
    noun: group,
    read: (accounts, id) => accounts.groupsOf(id),
  },
  {
    name: "user.getPrivileges",
    path: "/users/{id}/acl-privileges",
    operationId: "GetUserPrivileges",
    summary: "List the privileges of a user, including those of their groups.",
    noun: privilege,
    read: (accounts, id) => accounts.privilegesOfUser(id),
  },
  {
    name: "group.getUsers",
    path: "/groups/{id}/users",
    operationId: "GetGroupUsers",
    summary: "List the users of a group.",
    noun: user,
    read: (accounts, id) => accounts.membersOf(id),
  },
  {
    name: "group.getRoles",
    path: "/groups/{id}/acl-roles",
    operationId: "GetGroupAclRoles",
    summary: "List the roles of a group.",
    noun: role,
    read: (accounts, id) => accounts.rolesOfGroup(id),
  },
  {
    name: "role.getUsers",
    path: "/acl-roles/{id}/users",
    operationId: "GetAclRoleUsers",
    summary:
      "List the users to whom a role is granted directly, not through a group.",
    noun: user,
    read: (accounts, id) => accounts.usersWith(id),
  },
  {
    name: "role.getGroups",
    path: "/acl-roles/{id}/groups",
    operationId: "GetAclRoleGroups",
    summary: "List the groups to which a role is granted.",
    noun: group,
    read: (accounts, id) => accounts.groupsWith(id),
  },
  {
    name: "role.getPrivileges",
    path: "/acl-roles/{id}/privileges",
    operationId: "GetAclV2RolePrivileges",
    summary: "List the privileges of a role.",
    noun: privilege,
    read: (accounts, id) => accounts.privilegesOfRole(id),
  },
];

const singles: readonly ReadOperation[] = [
  {
    name: "user.get",
    path: "/users/{id}",
    operationId: "GetUser",
    summary: "Return a user; `me` is the current user.",
    noun: user,
    read: (accounts, id) => accounts.user(id),
  },
  {
    name: "group.get",
    path: "/groups/{id}",
    operationId: "GetGroup",
    summary: "Return a group with its users.",
    noun: group,
    read: (accounts, id) => accounts.group(id),
  },
  {
    name: "role.get",
    path: "/acl-roles/{id}",
    operationId: "GetAclV2Role",
    summary: "Return a role.",
    noun: role,
    read: (accounts, id) => accounts.role(id),
  },
  {
    name: "privilege.get",
    path: "/acl-privileges/{id}",
    operationId: "GetAclV2Privilege",
    summary: "Return a privilege.",
    noun: privilege,
    read: (accounts, id) => accounts.privilege(id),
  },
];

function toOperation(
  { name, path, operationId, summary, read }: ReadOperation,
  { schema, example }: Noun,
): Operation<Services> {
  const rest: RestRoute = {
    method: "get",
    path,
    operationId,
    exposure: "allow",
    example,
  };
  const id = Type.String({ minLength: 1, description: "Id of the object." });
  return defineOperation({
    name,
    summary,
    rest,
    params: Type.Object(path.includes("{id}") ? { id } : {}, {
      additionalProperties: false,
    }),
    result: schema,
    permission: "user",
    handler: (params, context) => {
      const user = requireUser(context);
      const input = (params as { readonly id?: string }).id ?? "";
      const isMe = input === "me" && name.startsWith("user.");
      const visible = new VisibleAccounts(context.services, user);
      return read(visible, isMe ? user.id : input);
    },
  });
}

/** Lists of users, groups, roles and privileges that the caller may read. */
export const accountListOperations = [
  ...lists.map((reading) =>
    toOperation(reading, {
      schema: Type.Array(reading.noun.schema),
      example: [reading.noun.example],
    }),
  ),
  ...singles.map((reading) => toOperation(reading, reading.noun)),
];
