import { XoError } from "@xo-server/model";
import {
  tokenLifetime,
  type NewToken,
  type Store,
  type Token,
} from "@xo-server/store";
import { Type, type Static } from "typebox";
import type { CallContext } from "../../operations/operation.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { toMilliseconds } from "../../auth/duration.js";
import { matchesPattern } from "../../auth/matches-pattern.js";
import type { AuthenticatedUser } from "../../auth/users/authenticated-user.js";
import { PublicToken, toPublicToken } from "../../auth/users/public-token.js";

const description = Type.String({
  maxLength: 1024,
  description: "Description of the token.",
});
const requested = {
  description: Type.Optional(description),
  client: Type.Optional(
    Type.Object(
      {
        id: Type.String({
          minLength: 1,
          maxLength: 1024,
          description: "Id of the client.",
        }),
      },
      { description: "Client to which the token belongs." },
    ),
  ),
  expiresIn: Type.Optional(
    Type.Union([Type.Number(), Type.String({ minLength: 1, maxLength: 64 })], {
      description:
        "Lifetime of the token, in ms or with a unit: `1 hour`. Default: 30 days.",
    }),
  ),
};
const Wanted = Type.Object(requested, { additionalProperties: false });
const which = Type.Object(
  {
    tokens: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), {
        maxItems: 1000,
        description: "The tokens or their ids.",
      }),
    ),
    pattern: Type.Optional(
      Type.Object(
        {},
        {
          additionalProperties: true,
          description:
            "Tokens that match this pattern of the properties that user.getAuthenticationTokens returns.",
        },
      ),
    ),
  },
  { additionalProperties: false },
);
const id = Type.String({ minLength: 1, description: "Id of a user, or `me`." });

/** @throws XoError UNAUTHORIZED */
export function requireUser({ user }: CallContext): AuthenticatedUser {
  if (user === undefined) throw new XoError("UNAUTHORIZED");
  return user;
}

function create(
  context: OperationContext,
  userId: string,
  options: Static<typeof Wanted>,
) {
  const isOwn = userId === requireUser(context).id;
  const { proof = "" } = context.client.session ?? {};
  const { description, client, expiresIn } = options;
  const requestedMs =
    expiresIn === undefined
      ? undefined
      : checkLifetime(toMilliseconds(expiresIn));
  const expiresInMs = boundLifetime(requestedMs, context);
  return createToken(context, {
    userId,
    proof: isOwn ? proof : "administrator",
    ...(description === undefined ? {} : { description }),
    ...(client === undefined ? {} : { clientId: client.id }),
    ...(expiresInMs === undefined ? {} : { expiresInMs }),
  });
}

/**
 * Creates a token for the caller. Its session may end while the database is busy: then
 * the token ends too, otherwise it would outlast a change of the password.
 * @throws XoError UNAUTHORIZED: the session has ended
 */
export async function createToken(
  { services, client }: OperationContext,
  wanted: NewToken,
): Promise<{ readonly text: string; readonly token: Token }> {
  const { tokens } = services.store;
  const created = await tokens.create(wanted);
  const { session } = client;
  const hasEnded =
    session !== undefined &&
    (session.user() === undefined || session.isPasswordChanged?.() === true);
  if (!hasEnded) return created;
  await tokens.delete(created.token.id);
  throw new XoError("UNAUTHORIZED");
}

function* all({
  services,
}: Pick<OperationContext, "services">): Iterable<Token> {
  for (const user of services.store.users.list())
    yield* services.store.tokens.ofUser(user.id);
}

/** Users who must set up a second factor first may only end their own session. */
function ownTokens(context: OperationContext): Iterable<Token> {
  const { tokens } = context.services.store;
  const { id, isSetUpOnly = false } = requireUser(context);
  if (!isSetUpOnly) return tokens.ofUser(id);
  const session = tokens.get(context.client.session?.tokenId ?? "");
  return session === undefined ? [] : [session];
}

async function remove(
  { services }: Pick<OperationContext, "services">,
  among: Iterable<Token>,
  meant: Static<typeof which>,
): Promise<true> {
  for (const token of select(services.store.tokens, among, meant))
    await services.store.tokens.delete(token.id);
  return true;
}

/** @throws XoError FORBIDDEN: only admins may manage tokens of others */
function userIdOf(input: string, context: OperationContext): string {
  const { id: own, isAdmin } = requireUser(context);
  const userId = input === "me" ? own : input;
  if (userId !== own && !isAdmin)
    throw new XoError("FORBIDDEN", { permission: "admin" });
  if (context.services.store.users.get(userId) === undefined)
    throw new XoError("NO_SUCH_OBJECT", { type: "user", id: userId });
  return userId;
}

const tokenCreate = defineOperation({
  name: "token.create",
  summary:
    "Create an authentication token, or renew the existing token of the client, and return it. If the caller has signed in with a token, the new one expires no later than that one.",
  params: Wanted,
  result: Type.String({ description: "The token; it is returned only once." }),
  permission: "user",
  changes: true,
  handler: async (options, context) =>
    (await create(context, requireUser(context).id, options)).text,
});

const tokenSet = defineOperation({
  name: "token.set",
  summary: "Change the description of a token of the current user.",
  params: Type.Object(
    {
      id: Type.String({
        minLength: 1,
        maxLength: 1024,
        description: "The token or its id.",
      }),
      description: Type.Optional(Type.Union([description, Type.Null()])),
    },
    { additionalProperties: false },
  ),
  result: Type.Boolean(),
  permission: "user",
  changes: true,
  async handler({ id, description }, context) {
    const token =
      context.services.store.tokens.find(id) ??
      context.services.store.tokens.get(id);
    if (token?.userId !== requireUser(context).id)
      throw new XoError("NO_SUCH_OBJECT", { type: "token", id: "given" });
    if (description !== undefined)
      await context.services.store.tokens.describe(token.id, description ?? "");
    return true;
  },
});

const tokenDelete = defineOperation({
  name: "token.delete",
  summary: "Revoke tokens of any user.",
  params: which,
  result: Type.Boolean(),
  permission: "admin",
  changes: true,
  handler: (meant, context) => remove(context, all(context), meant),
});

const tokenDeleteOwn = defineOperation({
  name: "token.deleteOwn",
  summary: "Revoke tokens of the current user.",
  params: which,
  result: Type.Boolean(),
  permission: "user",
  changes: true,
  isForSetUp: true,
  handler: (meant, context) => remove(context, ownTokens(context), meant),
});

const userGetAuthenticationTokens = defineOperation({
  name: "user.getAuthenticationTokens",
  summary:
    "List the tokens of the current user. Administrators may name another user.",
  params: Type.Object(
    { id: Type.Optional(id) },
    { additionalProperties: false },
  ),
  result: Type.Array(PublicToken),
  permission: "user",
  rest: {
    method: "get",
    path: "/users/{id}/authentication_tokens",
    operationId: "GetAuthenticationTokens",
    exposure: "allow",
  },
  handler: ({ id = "me" }, context) => {
    const current = context.client.session?.tokenId;
    return Array.from(
      context.services.store.tokens.ofUser(userIdOf(id, context)),
      (token) => ({
        ...toPublicToken(token),
        ...(token.id === current ? { isCurrent: true as const } : {}),
      }),
    );
  },
});

const userCreateAuthenticationToken = defineOperation({
  name: "user.createAuthenticationToken",
  summary:
    "Create a token as token.create does, and return it with its details.",
  params: Type.Object({ id, ...requested }, { additionalProperties: false }),
  result: Type.Object({ token: PublicToken }),
  permission: "user",
  changes: true,
  rest: [
    {
      method: "post",
      path: "/users/{id}/authentication_tokens",
      operationId: "PostAuthenticationTokens",
      exposure: "confirm",
      status: 201,
    },
    {
      method: "post",
      path: "/users/authentication_tokens",
      operationId: "PostDeprecatedAuthenticationTokens",
      summary:
        "Deprecated: create a token as /users/me/authentication_tokens does.",
      exposure: "confirm",
      status: 201,
      params: { id: "me" },
    },
  ],
  async handler({ id, ...options }, context) {
    const created = await create(context, userIdOf(id, context), options);
    // REST clients expect the token itself as its id.
    return { token: { ...toPublicToken(created.token), id: created.text } };
  },
});

/** @throws XoError INVALID_PARAMETERS */
function checkLifetime(ms: number): number {
  const { minMs, maxMs } = tokenLifetime;
  if (ms >= minMs && ms <= maxMs) return ms;
  throw new XoError("INVALID_PARAMETERS", {
    reason: `expiresIn is ${minMs} to ${maxMs} ms`,
    errors: [],
  });
}

/**
 * Limits the lifetime of a token that was created with another token: it must not
 * outlive it.
 * @throws XoError FORBIDDEN
 */
export function boundLifetime(
  requestedMs: number | undefined,
  { client, services }: OperationContext,
): number | undefined {
  const tokenId = client.session?.tokenId;
  const token =
    tokenId === undefined ? undefined : services.store.tokens.get(tokenId);
  if (token === undefined) return requestedMs;
  const restMs = token.expiresAt - services.clock.now();
  if (restMs < tokenLifetime.minMs)
    throw new XoError("FORBIDDEN", {
      permission: "a token that is valid for another minute",
    });
  return Math.min(requestedMs ?? tokenLifetime.defaultMs, restMs);
}

/**
 * Without any condition nothing is selected: a call that omits all of them must not
 * delete all tokens.
 */
function select(
  tokens: Store["tokens"],
  among: Iterable<Token>,
  { tokens: named, pattern }: Static<typeof which>,
): Token[] {
  if (named !== undefined) {
    const ids = new Set(named.map((name) => tokens.find(name)?.id ?? name));
    return Array.from(among).filter(({ id }) => ids.has(id));
  }
  if (pattern === undefined) return [];
  return Array.from(among).filter((token) =>
    matchesPattern(pattern, toPublicToken(token)),
  );
}

export const tokenOperations = [
  tokenCreate,
  tokenSet,
  tokenDelete,
  tokenDeleteOwn,
  userGetAuthenticationTokens,
  userCreateAuthenticationToken,
];
