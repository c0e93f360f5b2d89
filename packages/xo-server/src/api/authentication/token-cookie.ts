import { XoError } from "@xo-server/model";
import type { Dispatcher } from "../../operations/dispatcher.js";
import type { CallContext } from "../../operations/operation.js";
import { TOKEN_COOKIE } from "./credentials.js";

interface CookieOptions {
  /** Whether the client uses TLS. */
  readonly isSecure: boolean;
  /** Whether the browser keeps the cookie after it was closed. */
  readonly isRemembered: boolean;
}

/** Creates the token of a browser's session for the signed-in user. @returns the value of `Set-Cookie` */
export async function createTokenCookie(
  dispatcher: Dispatcher,
  context: CallContext,
  { isSecure, isRemembered }: CookieOptions,
): Promise<string> {
  const params = { remember: isRemembered };
  const created = (await dispatcher.call(
    "session.createToken",
    params,
    context,
  )) as { readonly token?: unknown; readonly lifeMs?: unknown };
  if (typeof created.token !== "string" || typeof created.lifeMs !== "number")
    throw new XoError("INTERNAL", { reason: "session.createToken: no token" });
  const seconds = isRemembered ? Math.floor(created.lifeMs / 1000) : undefined;
  return toCookie(created.token, isSecure, seconds);
}

/**
 * HttpOnly, SameSite=Strict, and Secure if the client uses TLS.
 * @param seconds undefined: until the browser is closed
 */
function toCookie(
  token: string,
  isSecure: boolean,
  seconds: number | undefined,
): string {
  const age = seconds === undefined ? "" : `; Max-Age=${seconds}`;
  const secure = isSecure ? "; Secure" : "";
  return `${TOKEN_COOKIE}=${encodeURIComponent(token)}; Path=/${age}; HttpOnly; SameSite=Strict${secure}`;
}
