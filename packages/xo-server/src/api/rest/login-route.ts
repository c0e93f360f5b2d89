import type { FastifyInstance } from "fastify";
import type { Dispatcher } from "../../operations/dispatcher.js";
import type { Authenticator } from "../../auth/authenticator.js";
import type { Permission } from "../../operations/operation.js";
import { outerOf } from "../outer.js";
import { toCaller } from "./caller.js";
import type { Shown } from "./credentials.js";
import { invalidInput } from "./invalid-input.js";
import { createTokenCookie } from "./token-cookie.js";

export interface LoginOptions {
  readonly authenticator: Authenticator | undefined;
  readonly anonymous: Permission;
  readonly dispatcher: Dispatcher;
}

/** Name and password for a cookie: what the Go SDK asks. */
export function addLoginRoute(
  app: FastifyInstance,
  options: LoginOptions,
): void {
  app.post("/auth/login", async (request, reply) => {
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
  });
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
