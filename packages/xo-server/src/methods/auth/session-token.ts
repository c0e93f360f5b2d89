import { tokenLifetime } from "@xo-server/store";
import { Type } from "typebox";
import { defineOperation } from "../definition/define-operation.js";
import { boundLifetime, createToken, requireUser } from "./token.js";

const sessionCreateToken = defineOperation({
  name: "session.createToken",
  summary:
    "Create the token of a browser session, with the limits of the configuration (auth.sessionHours and others), and return it. POST /auth/login calls this operation.",
  params: Type.Object(
    {
      remember: Type.Optional(
        Type.Boolean({
          description:
            "true: the session has no idle timeout and lasts auth.rememberedSessionHours. Default: false.",
        }),
      ),
    },
    { additionalProperties: false },
  ),
  result: Type.Object({
    token: Type.String({ description: "The token; it is returned only once." }),
    lifeMs: Type.Number({
      description: "Maximum time until the token expires, in ms.",
    }),
  }),
  permission: "user",
  changes: true,
  isForSetUp: true,
  async handler({ remember = false }, context) {
    const { id: userId } = requireUser(context);
    const { sessionLimits } = context.services;
    const { idleMs, lifeMs, rememberedMs } = sessionLimits;
    const { proof = "" } = context.client.session ?? {};
    const requestedMs = remember ? rememberedMs : lifeMs;
    const expiresInMs = Math.min(
      boundLifetime(requestedMs, context) ?? requestedMs,
      tokenLifetime.maxMs,
    );
    const { text } = await createToken(context, {
      userId,
      proof,
      expiresInMs,
      ...(remember || idleMs === undefined ? {} : { idleMs }),
    });
    return { token: text, lifeMs: expiresInMs };
  },
});

const sessionKeepAlive = defineOperation({
  name: "session.keepAlive",
  summary:
    "Record activity of the user in this session, for the limit auth.sessionIdleMinutes. Calls that the web page sends on its own are not activity.",
  params: Type.Object({}, { additionalProperties: false }),
  result: Type.Boolean(),
  permission: "user",
  isForSetUp: true,
  handler(_, { client, address, services }) {
    const tokenId = client.session?.tokenId;
    if (tokenId !== undefined) services.store.tokens.touch(tokenId, address);
    return true;
  },
});

/** Tokens of browser sessions. */
export const sessionTokenOperations = [sessionCreateToken, sessionKeepAlive];
