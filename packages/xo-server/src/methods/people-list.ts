import { Type, type TSchema } from "typebox";
import type { Operation } from "../operations/operation.js";
import { defineOperation } from "./define-operation.js";
import type { Services } from "./services.js";
import type { RestRoute } from "../operations/rest-route.js";
import { PublicGroup, groupExample } from "../auth/public-group.js";
import {
  PublicPrivilege,
  PublicRole,
  privilegeExample,
  roleExample,
} from "../auth/public-role.js";
import { PublicUser, userExample } from "../auth/public-user.js";
import { VisibleAccounts } from "../auth/visible-accounts.js";
import { personOf } from "./token.js";

interface Noun {
  readonly schema: TSchema;
  readonly example: unknown;
}

const user: Noun = { schema: PublicUser, example: userExample };
const group: Noun = { schema: PublicGroup, example: groupExample };
const role: Noun = { schema: PublicRole, example: roleExample };
const privilege: Noun = { schema: PublicPrivilege, example: privilegeExample };

/** One way to read, and its name in each API. */
interface Reading {
  readonly name: string;
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly noun: Noun;
  /** @param id of the object at the start of the path; empty: none */
  readonly read: (people: VisibleAccounts, id: string) => unknown;
}

const lists: readonly Reading[] = [
  {
    name: "user.list",
    path: "/users",
    operationId: "GetUsers",
    summary:
      "Lists users. Users without the permission admin see themselves and those that their privileges name.",
    noun: user,
    read: (people) => people.users(),
  },
  {
    name: "group.list",
    path: "/groups",
    operationId: "GetGroups",
    summary:
      "Lists groups. Users without the permission admin see their own groups and those that their privileges name.",
    noun: group,
    read: (people) => people.groups(),
  },
  {
    name: "role.list",
    path: "/acl-roles",
    operationId: "GetAclV2Roles",
    summary:
      "Lists roles. Users without the permission admin see their own roles and those that their privileges name.",
    noun: role,
    read: (people) => people.roles(),
  },
  {
    name: "privilege.getAll",
    path: "/acl-privileges",
    operationId: "GetAclV2Privileges",
    summary: "Lists the privileges of all roles but the predefined ones.",
    noun: privilege,
    read: (people) => people.privileges(),
  },
  {
    name: "user.getGroups",
    path: "/users/{id}/groups",
    operationId: "GetUserGroups",
    summary: "Lists the groups of a user.",
    noun: group,
    read: (people, id) => people.groupsOf(id),
  },
  {
    name: "user.getPrivileges",
    path: "/users/{id}/acl-privileges",
    operationId: "GetUserPrivileges",
    summary: "Lists the privileges of a user, including those of their groups.",
    noun: privilege,
    read: (people, id) => people.privilegesOfUser(id),
  },
  {
    name: "group.getUsers",
    path: "/groups/{id}/users",
    operationId: "GetGroupUsers",
    summary: "Lists the users of a group.",
    noun: user,
    read: (people, id) => people.membersOf(id),
  },
  {
    name: "group.getRoles",
    path: "/groups/{id}/acl-roles",
    operationId: "GetGroupAclRoles",
    summary: "Lists the roles of a group.",
    noun: role,
    read: (people, id) => people.rolesOfGroup(id),
  },
  {
    name: "role.getUsers",
    path: "/acl-roles/{id}/users",
    operationId: "GetAclRoleUsers",
    summary: "Lists the users with a role, without those of groups.",
    noun: user,
    read: (people, id) => people.usersWith(id),
  },
  {
    name: "role.getGroups",
    path: "/acl-roles/{id}/groups",
    operationId: "GetAclRoleGroups",
    summary: "Lists the groups with a role.",
    noun: group,
    read: (people, id) => people.groupsWith(id),
  },
  {
    name: "role.getPrivileges",
    path: "/acl-roles/{id}/privileges",
    operationId: "GetAclV2RolePrivileges",
    summary: "Lists the privileges of a role.",
    noun: privilege,
    read: (people, id) => people.privilegesOfRole(id),
  },
];

const singles: readonly Reading[] = [
  {
    name: "user.get",
    path: "/users/{id}",
    operationId: "GetUser",
    summary: "Returns a user; `me` is the current user.",
    noun: user,
    read: (people, id) => people.user(id),
  },
  {
    name: "group.get",
    path: "/groups/{id}",
    operationId: "GetGroup",
    summary: "Returns a group with its users.",
    noun: group,
    read: (people, id) => people.group(id),
  },
  {
    name: "role.get",
    path: "/acl-roles/{id}",
    operationId: "GetAclV2Role",
    summary: "Returns a role.",
    noun: role,
    read: (people, id) => people.role(id),
  },
  {
    name: "privilege.get",
    path: "/acl-privileges/{id}",
    operationId: "GetAclV2Privilege",
    summary: "Returns a privilege.",
    noun: privilege,
    read: (people, id) => people.privilege(id),
  },
];

function toOperation(
  { name, path, operationId, summary, read }: Reading,
  { schema, example }: Noun,
): Operation<Services> {
  const rest: RestRoute = {
    method: "get",
    path,
    operationId,
    exposure: "allow",
    example,
  };
  const id = Type.String({ minLength: 1 });
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
      const person = personOf(context);
      const given = (params as { readonly id?: string }).id ?? "";
      const isMe = given === "me" && name.startsWith("user.");
      const visible = new VisibleAccounts(context.services, person);
      return read(visible, isMe ? person.id : given);
    },
  });
}

/** Users, groups, roles and privileges, as far as the caller may see them. */
export const peopleListOperations = [
  ...lists.map((reading) =>
    toOperation(reading, {
      schema: Type.Array(reading.noun.schema),
      example: [reading.noun.example],
    }),
  ),
  ...singles.map((reading) => toOperation(reading, reading.noun)),
];
