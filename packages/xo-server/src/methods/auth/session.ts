import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import type { CallContext } from "../../operations/operation.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { PublicUser, toSessionUser } from "../../auth/users/public-user.js";
import type { Session } from "../../auth/sessions/session.js";

const text = (description: string) =>
  Type.String({ minLength: 1, maxLength: 4096, description });
const userName = "Name of the user.";
const password = text("Password of the user.");
const token = text("Authentication token.");
const closed = { additionalProperties: false } as const;

function begin(
  { services }: Pick<OperationContext, "services">,
  session: Session,
  { client }: CallContext,
): PublicUser {
  const user = services.store.users.get(session.userId);
  if (user === undefined) throw new XoError("CREDENTIALS_INVALID");
  services.sessions.begin(client, session);
  return toSessionUser(user, services, session.user());
}

const sessionSignIn = defineOperation({
  name: "session.signIn",
  summary:
    "Sign in this connection with {email or username, password, otp?} or {token}.",
  // Some clients send further members.
  params: Type.Object(
    {
      email: Type.Optional(text("Same as username.")),
      username: Type.Optional(text(userName)),
      password: Type.Optional(
        Type.String({ maxLength: 4096, description: "Password of the user." }),
      ),
      otp: Type.Optional(
        Type.String({
          description:
            "One-time code, for users with two-factor authentication.",
        }),
      ),
      token: Type.Optional(token),
    },
    { additionalProperties: true },
  ),
  result: PublicUser,
  permission: "none",
  async handler({ token, email, username, password, otp }, context) {
    const { address } = context;
    if (token !== undefined)
      return begin(
        context,
        await context.services.signIn.byToken(token, address),
        context,
      );
    const name = email ?? username;
    if (name === undefined || password === undefined)
      throw new XoError("CREDENTIALS_INVALID");
    const credentials = {
      name,
      password,
      ...(otp === undefined ? {} : { otp }),
    };
    return begin(
      context,
      await context.services.signIn.byPassword(
        credentials,
        address,
        context.client.disconnected,
      ),
      context,
    );
  },
});

const sessionSignInWithPassword = defineOperation({
  name: "session.signInWithPassword",
  summary: "Deprecated: sign in this connection as session.signIn does.",
  params: Type.Object({ email: text(userName), password }, closed),
  result: PublicUser,
  permission: "none",
  handler: async ({ email, password }, context) =>
    begin(
      context,
      await context.services.signIn.byPassword(
        { name: email, password },
        context.address,
        context.client.disconnected,
      ),
      context,
    ),
});

const sessionSignInWithToken = defineOperation({
  name: "session.signInWithToken",
  summary: "Deprecated: sign in this connection as session.signIn does.",
  params: Type.Object({ token }, closed),
  result: PublicUser,
  permission: "none",
  handler: async ({ token }, context) =>
    begin(
      context,
      await context.services.signIn.byToken(token, context.address),
      context,
    ),
});

const sessionGetUser = defineOperation({
  name: "session.getUser",
  summary: "Return the current user of this connection.",
  params: Type.Object({}),
  result: PublicUser,
  permission: "none",
  handler(_, context) {
    const user =
      context.user && context.services.store.users.get(context.user.id);
    if (user === undefined) throw new XoError("NO_SESSION");
    return toSessionUser(user, context.services, context.user);
  },
});

const sessionSignOut = defineOperation({
  name: "session.signOut",
  summary: "Sign out; the connection stays open.",
  params: Type.Object({}),
  result: Type.Boolean(),
  permission: "user",
  isForSetUp: true,
  handler(_, { services, client }) {
    services.sessions.end(client);
    return true;
  },
});

export const sessionOperations = [
  sessionSignIn,
  sessionSignInWithPassword,
  sessionSignInWithToken,
  sessionGetUser,
  sessionSignOut,
];
