import { XoError } from "@xo-server/model";
import type { Dispatcher } from "../../operations/dispatcher.js";
import type { CallContext } from "../../operations/operation.js";
import { TOKEN_COOKIE } from "./credentials.js";

/** A new token for whoever has just signed in, as a `Set-Cookie`. */
export async function createTokenCookie(
  dispatcher: Dispatcher,
  context: CallContext,
  isSecure: boolean,
): Promise<string> {
  const token = await dispatcher.call("token.create", {}, context);
  if (typeof token !== "string")
    throw new XoError("INTERNAL", { reason: "no token" });
  return toCookie(token, isSecure);
}

/** Not for scripts, not for requests of other sites, and under TLS not without it. */
function toCookie(token: string, isSecure: boolean): string {
  const secure = isSecure ? "; Secure" : "";
  return `${TOKEN_COOKIE}=${encodeURIComponent(token)}; Path=/; HttpOnly; SameSite=Strict${secure}`;
}
