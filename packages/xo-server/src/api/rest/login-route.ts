import type { Dispatcher } from "../../operations/dispatcher.js";
import type { Authenticator } from "../../auth/authenticator.js";
import type { Permission } from "../../operations/operation.js";
import { outerOf } from "../outer.js";
import { toCaller } from "./caller.js";
import type { Shown } from "./credentials.js";
import { invalidInput } from "./invalid-input.js";
import type { RouteHandler } from "./route-table.js";
import { createTokenCookie } from "./token-cookie.js";

export interface LoginOptions {
  readonly authenticator: Authenticator | undefined;
  readonly anonymous: Permission;
  readonly dispatcher: Dispatcher;
}

export const LOGIN_PATH = "/auth/login";

/** Handles `POST /auth/login`: a name and a password for a token cookie. The Go SDK calls it. */
export function createLoginHandler(options: LoginOptions): RouteHandler {
  return async (request, reply) => {
    const shown = readLogin(request.body);
    const caller = await toCaller(shown, outerOf(request.raw).address, options);
    const { isSecure } = outerOf(request.raw);
    const { context } = caller;
    const cookie = await createTokenCookie(
      options.dispatcher,
      context,
      isSecure,
    );
    return reply
      .header("set-cookie", cookie)
      .send({ user: { id: context.user?.id } });
  };
}

function readLogin(body: unknown): Shown {
  const { username, password, otp } = (body ?? {}) as Record<string, unknown>;
  if (typeof username !== "string")
    throw invalidInput({ "body.username": { message: "a text is required" } });
  if (typeof password !== "string")
    throw invalidInput({ "body.password": { message: "a text is required" } });
  return {
    kind: "password",
    name: username,
    password,
    ...(typeof otp === "string" ? { otp } : {}),
  };
}
