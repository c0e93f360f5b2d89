import { toCaller } from "../../authentication/caller.js";
import { createDisconnectSignal } from "../../authentication/disconnect-signal.js";
import type { LoginOptions } from "../../authentication/login-options.js";
import type { RequestCredentials } from "../../authentication/credentials.js";
import { invalidInput } from "../../errors/invalid-input.js";
import type { RouteHandler } from "../routing/route-table.js";
import { createTokenCookie } from "../../authentication/token-cookie.js";

export const LOGIN_PATH = "/auth/login";

/**
 * Handles `POST /auth/login`: exchanges a name and a password for a token cookie.
 * The Go SDK calls it.
 */
export function createLoginHandler(options: LoginOptions): RouteHandler {
  return async (request, reply) => {
    const credentials = readLogin(request.body);
    const { address, isSecure } = request.clientAddress;
    const caller = await toCaller(credentials, address, {
      ...options,
      admitsSetUp: true,
      disconnected: createDisconnectSignal(reply),
    });
    const { context } = caller;
    const cookie = await createTokenCookie(options.dispatcher, context, {
      isSecure,
      isRemembered: readRemember(request.body),
    });
    return reply
      .header("set-cookie", cookie)
      .send({ user: { id: context.user?.id } });
  };
}

function readRemember(body: unknown): boolean {
  const { remember = false } = (body ?? {}) as Record<string, unknown>;
  if (typeof remember === "boolean") return remember;
  throw invalidInput({ "body.remember": { message: "a boolean is required" } });
}

function readLogin(body: unknown): RequestCredentials {
  const { username, password, otp } = (body ?? {}) as Record<string, unknown>;
  if (typeof username !== "string")
    throw invalidInput({
      "body.username": { message: "a string is required" },
    });
  if (typeof password !== "string")
    throw invalidInput({
      "body.password": { message: "a string is required" },
    });
  return {
    kind: "password",
    name: username,
    password,
    ...(typeof otp === "string" ? { otp } : {}),
  };
}
