import { XoError } from "@xo-server/model";
import type { Store } from "@xo-server/store";
import { Type } from "typebox";
import {
  defineOperation,
  type CallContext,
  type Operation,
} from "../operations/operation.js";
import type { Authenticator } from "../auth/authenticator.js";
import { PublicUser, toPublicUser } from "../auth/public-user.js";
import type { Session } from "../auth/session.js";
import type { Sessions } from "../auth/sessions.js";

export interface SessionMethodsOptions {
  readonly store: Pick<Store, "users" | "groups">;
  readonly signIn: Authenticator;
  readonly sessions: Pick<Sessions, "begin" | "end">;
}

const text = Type.String({ minLength: 1, maxLength: 4096 });
const closed = { additionalProperties: false } as const;

export function sessionMethods(options: SessionMethodsOptions): Operation[] {
  const { store, signIn, sessions } = options;

  function begin(session: Session, { client }: CallContext): PublicUser {
    const user = store.users.get(session.userId);
    if (user === undefined) throw new XoError("CREDENTIALS_INVALID");
    sessions.begin(client, session);
    return toPublicUser(user, store);
  }

  return [
    defineOperation({
      name: "session.signIn",
      summary:
        "Signs in on this connection, with {email or username, password, otp?} or {token}.",
      // Clients send other things along.
      params: Type.Object(
        {
          email: Type.Optional(text),
          username: Type.Optional(text),
          password: Type.Optional(Type.String({ maxLength: 4096 })),
          otp: Type.Optional(
            Type.String({ description: "Of users with a second factor." }),
          ),
          token: Type.Optional(text),
        },
        { additionalProperties: true },
      ),
      result: PublicUser,
      permission: "none",
      async handler({ token, email, username, password, otp }, context) {
        const { address } = context;
        if (token !== undefined)
          return begin(await signIn.byToken(token, address), context);
        const name = email ?? username;
        if (name === undefined || password === undefined)
          throw new XoError("CREDENTIALS_INVALID");
        const credentials = {
          name,
          password,
          ...(otp === undefined ? {} : { otp }),
        };
        return begin(await signIn.byPassword(credentials, address), context);
      },
    }),
    defineOperation({
      name: "session.signInWithPassword",
      summary: "As session.signIn, for older clients.",
      params: Type.Object({ email: text, password: text }, closed),
      result: PublicUser,
      permission: "none",
      handler: async ({ email, password }, context) =>
        begin(
          await signIn.byPassword({ name: email, password }, context.address),
          context,
        ),
    }),
    defineOperation({
      name: "session.signInWithToken",
      summary: "As session.signIn, for older clients.",
      params: Type.Object({ token: text }, closed),
      result: PublicUser,
      permission: "none",
      handler: async ({ token }, context) =>
        begin(await signIn.byToken(token, context.address), context),
    }),
    defineOperation({
      name: "session.getUser",
      summary: "Who has signed in on this connection.",
      params: Type.Object({}),
      result: PublicUser,
      permission: "none",
      handler(_, { user: person }) {
        const user = person && store.users.get(person.id);
        if (user === undefined) throw new XoError("NO_SESSION");
        return toPublicUser(user, store);
      },
    }),
    defineOperation({
      name: "session.signOut",
      summary: "Nobody is signed in any more; the connection stays.",
      params: Type.Object({}),
      result: Type.Boolean(),
      permission: "user",
      handler(_, { client }) {
        sessions.end(client);
        return true;
      },
    }),
  ];
}
