import type { Token } from "@xo-server/store";
import { Type, type Static } from "typebox";

/** A token in the API, without its secret, which is returned once, when the token is created. */
export const PublicToken = Type.Object({
  id: Type.String(),
  user_id: Type.String(),
  created_at: Type.Integer({ description: "Time, in ms since the epoch." }),
  expiration: Type.Integer({ description: "Time, in ms since the epoch." }),
  description: Type.Optional(Type.String()),
  client: Type.Optional(Type.Object({ id: Type.String() })),
  last_use: Type.Optional(
    Type.Object({
      timestamp: Type.Integer(),
      ip: Type.Optional(Type.String()),
    }),
  ),
  isCurrent: Type.Optional(
    Type.Literal(true, {
      description: "The token that the caller has signed in with.",
    }),
  ),
});
export type PublicToken = Static<typeof PublicToken>;

/** A token as clients see it: never the token itself. Times in ms since the epoch. */
export function toPublicToken(token: Token): PublicToken {
  const { clientId, description, lastUsedAt, lastAddress } = token;
  return {
    id: token.id,
    user_id: token.userId,
    created_at: token.createdAt,
    expiration: token.expiresAt,
    ...(description === "" ? {} : { description }),
    ...(clientId === undefined ? {} : { client: { id: clientId } }),
    ...(lastUsedAt === undefined
      ? {}
      : {
          last_use: {
            timestamp: lastUsedAt,
            ...(lastAddress === undefined ? {} : { ip: lastAddress }),
          },
        }),
  };
}
