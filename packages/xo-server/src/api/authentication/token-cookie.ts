import { XoError } from "@xo-server/model";
import type { Dispatcher } from "../../operations/dispatcher.js";
import type { CallContext } from "../../operations/operation.js";
import { TOKEN_COOKIE } from "./credentials.js";

/** Creates a token for the signed-in user. @returns the value of `Set-Cookie` */
export async function createTokenCookie(
  dispatcher: Dispatcher,
  context: CallContext,
  isSecure: boolean,
): Promise<string> {
  const token = await dispatcher.call("token.create", {}, context);
  if (typeof token !== "string")
    throw new XoError("INTERNAL", { reason: "token.create returned no token" });
  return toCookie(token, isSecure);
}

/** HttpOnly, SameSite=Strict, and Secure if the client uses TLS. */
function toCookie(token: string, isSecure: boolean): string {
  const secure = isSecure ? "; Secure" : "";
  return `${TOKEN_COOKIE}=${encodeURIComponent(token)}; Path=/; HttpOnly; SameSite=Strict${secure}`;
}
