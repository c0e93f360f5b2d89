import { XoError } from "@xo-server/model";
import type { FastifyInstance } from "fastify";
import type { Dispatcher } from "../../operations/dispatcher.js";
import type { Authenticator } from "../../people/authenticator.js";
import type { Permission } from "../../operations/operation.js";
import { outerOf } from "../outer.js";
import { toCaller } from "./caller.js";
import { TOKEN_COOKIE, type Shown } from "./credentials.js";
import { invalidInput } from "./invalid-input.js";

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
    const token = await options.dispatcher.call(
      "token.create",
      {},
      caller.context,
    );
    if (typeof token !== "string")
      throw new XoError("INTERNAL", { reason: "no token" });
    return reply
      .header("set-cookie", toCookie(token, outerOf(request.raw).isSecure))
      .send({ user: { id: caller.context.person?.id } });
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

/** Not for scripts, not for requests of other sites, and under TLS not without it. */
function toCookie(token: string, isSecure: boolean): string {
  const secure = isSecure ? "; Secure" : "";
  return `${TOKEN_COOKIE}=${encodeURIComponent(token)}; Path=/; HttpOnly; SameSite=Strict${secure}`;
}
