import type { Group } from "@xo-server/store";
import { Type } from "typebox";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { PublicGroup, toPublicGroup } from "../../auth/users/public-group.js";

const id = Type.String({ minLength: 1, description: "Id of a group." });
const userId = Type.String({ minLength: 1, description: "Id of a user." });
const name = Type.String({
  minLength: 1,
  maxLength: 1024,
  description: "Name of the group.",
});
const closed = { additionalProperties: false } as const;
/** Permissions and audit properties of these operations. */
const change = { permission: "admin", changes: true } as const;

const toPublic = (
  { services }: Pick<OperationContext, "services">,
  group: Group,
) => toPublicGroup(group, { groups: services.store.groups });

const groupGetAll = defineOperation({
  name: "group.getAll",
  summary: "List all groups with their users.",
  params: Type.Object({}),
  result: Type.Array(PublicGroup),
  permission: "admin",
  handler: (_params, context) =>
    Array.from(context.services.store.groups.list(), (group) =>
      toPublic(context, group),
    ),
});

const groupCreate = defineOperation({
  name: "group.create",
  summary: "Create a group and return its id.",
  params: Type.Object({ name }, closed),
  result: Type.String({ description: "Id of the group." }),
  ...change,
  rest: {
    method: "post",
    path: "/groups",
    operationId: "CreateGroup",
    exposure: "confirm",
    status: 201,
  },
  handler: async ({ name }, { services }) =>
    (await services.store.groups.create(name)).id,
});

const groupSet = defineOperation({
  name: "group.set",
  summary: "Rename a group.",
  params: Type.Object({ id, name: Type.Optional(name) }, closed),
  result: Type.Boolean(),
  ...change,
  rest: {
    method: "patch",
    path: "/groups/{id}",
    operationId: "UpdateGroup",
    exposure: "confirm",
    status: 204,
  },
  async handler({ id, name }, { services }) {
    if (name !== undefined) await services.store.groups.rename(id, name);
    return true;
  },
});

const groupDelete = defineOperation({
  name: "group.delete",
  summary: "Delete a group with its rights. Its users are not deleted.",
  params: Type.Object({ id }, closed),
  result: Type.Boolean(),
  ...change,
  rest: {
    method: "delete",
    path: "/groups/{id}",
    operationId: "DeleteGroup",
    exposure: "confirm",
    status: 204,
  },
  async handler({ id }, { services }) {
    await services.store.groups.delete(id);
    return true;
  },
});

const groupAddUser = defineOperation({
  name: "group.addUser",
  summary: "Add a user to a group.",
  params: Type.Object({ id, userId }, closed),
  result: Type.Boolean(),
  ...change,
  rest: {
    method: "put",
    path: "/groups/{id}/users/{userId}",
    operationId: "AddUserToGroup",
    exposure: "confirm",
    status: 204,
  },
  async handler({ id, userId }, { services }) {
    await services.store.groups.addMember(id, userId);
    return true;
  },
});

const groupRemoveUser = defineOperation({
  name: "group.removeUser",
  summary: "Remove a user from a group.",
  params: Type.Object({ id, userId }, closed),
  result: Type.Boolean(),
  ...change,
  rest: {
    method: "delete",
    path: "/groups/{id}/users/{userId}",
    operationId: "RemoveUserFromGroup",
    exposure: "confirm",
    status: 204,
  },
  async handler({ id, userId }, { services }) {
    await services.store.groups.removeMember(id, userId);
    return true;
  },
});

const groupSetUsers = defineOperation({
  name: "group.setUsers",
  summary: "Set the users of a group.",
  params: Type.Object(
    {
      id,
      userIds: Type.Array(userId, {
        maxItems: 100_000,
        description: "Ids of all users of the group.",
      }),
    },
    closed,
  ),
  result: Type.Boolean(),
  ...change,
  async handler({ id, userIds }, { services }) {
    await services.store.groups.setMembers(id, userIds);
    return true;
  },
});

export const groupOperations = [
  groupGetAll,
  groupCreate,
  groupSet,
  groupDelete,
  groupAddUser,
  groupRemoveUser,
  groupSetUsers,
];
