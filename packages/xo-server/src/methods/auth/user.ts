import { XoError } from "@xo-server/model";
import type { User } from "@xo-server/store";
import { Type } from "typebox";
import type { CallContext } from "../../operations/operation.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { PublicUser, toPublicUser } from "../../auth/users/public-user.js";
import { checkSshKeys } from "../../auth/users/ssh-keys.js";
import { requireUser } from "./token.js";

const id = Type.String({ minLength: 1, description: "Id of a user." });
const name = Type.String({
  minLength: 1,
  maxLength: 1024,
  description: "Name of the user, such as an e-mail address.",
});
const password = Type.String({
  minLength: 1,
  maxLength: 4096,
  description: "Password of the user.",
});
const permission = Type.Enum(["admin", "none"] as const, {
  description:
    "admin: administrator; none: only the rights of roles and ACLs. Default of new users: none.",
});
const preferences = Type.Record(Type.String(), Type.Unknown(), {
  description:
    "Preferences of the user, merged with the stored ones; null removes one. `sshKeys` ([{title, key}]): public keys that the web page offers for new VMs.",
});
const closed = { additionalProperties: false } as const;

/** @throws XoError NO_SUCH_OBJECT */
function find(
  { services }: Pick<OperationContext, "services">,
  userId: string,
): User {
  const user = services.store.users.get(userId);
  if (user !== undefined) return user;
  throw new XoError("NO_SUCH_OBJECT", { type: "user", id: userId });
}

const userGetAll = defineOperation({
  name: "user.getAll",
  summary: "List all users.",
  params: Type.Object({}),
  result: Type.Array(PublicUser),
  permission: "admin",
  handler: (_params, { services }) =>
    Array.from(services.store.users.list(), (user) =>
      toPublicUser(user, services.store, services.secondFactors),
    ),
});

const userCreate = defineOperation({
  name: "user.create",
  summary: "Create a user with a password and return the id.",
  params: Type.Object(
    { email: name, password, permission: Type.Optional(permission) },
    closed,
  ),
  result: Type.String({ description: "Id of the user." }),
  permission: "admin",
  changes: true,
  rest: {
    method: "post",
    path: "/users",
    operationId: "CreateUser",
    exposure: "confirm",
    status: 201,
    body: { name: "email" },
  },
  async handler({ email, ...rest }, { services }) {
    services.passwordPolicy.check(rest.password);
    return (await services.store.users.create({ name: email, ...rest })).id;
  },
});

const userDelete = defineOperation({
  name: "user.delete",
  summary: "Delete a user with their tokens and rights.",
  params: Type.Object({ id }, closed),
  result: Type.Boolean(),
  permission: "admin",
  changes: true,
  rest: {
    method: "delete",
    path: "/users/{id}",
    operationId: "DeleteUser",
    exposure: "confirm",
    status: 204,
  },
  async handler({ id }, context) {
    // Ensures that at least one admin remains.
    if (id === requireUser(context).id) throw notOneself("deleted");
    await context.services.store.users.delete(id);
    return true;
  },
});

const userSet = defineOperation({
  name: "user.set",
  summary:
    "Change a user. Users without the permission admin may change only their own preferences. A new password ends the sessions of the user and revokes the tokens.",
  params: Type.Object(
    {
      id,
      email: Type.Optional(name),
      password: Type.Optional(password),
      permission: Type.Optional(permission),
      preferences: Type.Optional(preferences),
    },
    closed,
  ),
  result: Type.Boolean(),
  permission: "user",
  changes: true,
  rest: {
    method: "patch",
    path: "/users/{id}",
    operationId: "UpdateUser",
    exposure: "confirm",
    status: 204,
    body: { name: "email" },
  },
  async handler({ id, email, password, preferences, ...patch }, context) {
    const user = requireUser(context);
    const others = [email, password, patch.permission];
    const isOwn = id === user.id;
    if (!user.isAdmin)
      if (!isOwn || others.some((value) => value !== undefined))
        throw new XoError("FORBIDDEN", { permission: "admin" });
    if (isOwn && patch.permission === "none") throw notOneself("demoted");
    if (password !== undefined) context.services.passwordPolicy.check(password);
    const before = find(context, id).preferences;
    if (preferences?.["sshKeys"] != null) checkSshKeys(preferences["sshKeys"]);
    await context.services.store.users.update(id, {
      ...patch,
      ...(email === undefined ? {} : { name: email }),
      ...(preferences && { preferences: merge(before, preferences) }),
    });
    if (password !== undefined) await setPassword(id, password, context);
    return true;
  },
});

const userRemoveAuthProvider = defineOperation({
  name: "user.removeAuthProvider",
  summary:
    "Unlink a user from an identity provider, end the sessions and revoke the tokens of the user.",
  params: Type.Object(
    {
      id,
      authProvider: Type.String({
        minLength: 1,
        maxLength: 256,
        description: "Identity provider: ldap, oidc or saml.",
      }),
    },
    closed,
  ),
  result: Type.Boolean(),
  permission: "admin",
  changes: true,
  async handler({ id, authProvider }, context) {
    const { [authProvider]: removed, ...authProviders } = find(
      context,
      id,
    ).authProviders;
    if (removed === undefined)
      throw new XoError("NO_SUCH_OBJECT", {
        type: "authProvider",
        id: authProvider,
      });
    await context.services.store.users.update(id, { authProviders });
    await endStays(context, id, context);
    return true;
  },
});

const userChangePassword = defineOperation({
  name: "user.changePassword",
  summary:
    "Change the password of the current user. Ends other sessions and revokes all tokens except the one in use.",
  params: Type.Object({ oldPassword: password, newPassword: password }, closed),
  result: Type.Boolean(),
  permission: "user",
  changes: true,
  async handler({ oldPassword, newPassword }, context) {
    const { id, name } = requireUser(context);
    context.services.passwordPolicy.check(newPassword);
    if (context.services.store.users.get(id)?.hasPassword !== true)
      throw new XoError("INVALID_PARAMETERS", {
        reason:
          "the password is managed by an external provider: change it there",
        errors: [],
      });
    await context.services.signIn.checkPassword(
      { name, password: oldPassword },
      context.address,
    );
    await setPassword(id, newPassword, context);
    return true;
  },
});

/** Merges preferences like Xen Orchestra; null removes a preference. */
function merge(
  before: User["preferences"],
  changes: User["preferences"],
): User["preferences"] {
  const all = Object.entries({ ...before, ...changes });
  return Object.fromEntries(all.filter(([, value]) => value !== null));
}

async function setPassword(
  userId: string,
  password: string,
  context: OperationContext,
): Promise<void> {
  const { client, services } = context;
  await services.store.users.setPassword(userId, password);
  if (client.session?.userId === userId)
    client.setSession(services.signIn.withNewPassword(client.session));
  await endStays(context, userId, context);
}

/** Ends all sessions with the old password, except that of the caller. */
async function endStays(
  { services }: Pick<OperationContext, "services">,
  userId: string,
  { client }: CallContext,
): Promise<void> {
  await services.store.tokens.deleteOfUser(userId, client.session?.tokenId);
  services.sessions.closeSessionsOf(userId, client);
  await services.oneTimePaths.revoke(userId, client);
}

function notOneself(what: string): XoError {
  return new XoError("INVALID_PARAMETERS", {
    reason: `a user cannot be ${what} by themselves`,
    errors: [],
  });
}

export const userOperations = [
  userGetAll,
  userCreate,
  userDelete,
  userSet,
  userRemoveAuthProvider,
  userChangePassword,
];
