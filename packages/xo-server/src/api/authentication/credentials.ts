import { XoError } from "@xo-server/model";
import type { Credentials } from "../../auth/sign-in/authenticator.js";

/** Credentials of a request. */
export type RequestCredentials =
  | { readonly kind: "nothing" }
  | { readonly kind: "token"; readonly token: string }
  | ({ readonly kind: "password" } & Credentials);

interface RequestHeaders {
  readonly authorization?: string | undefined;
  readonly cookie?: string | undefined;
}

/** In order of precedence: SDKs send the first, Xen Orchestra's web page the second. */
export const TOKEN_COOKIE = "authenticationToken";
const COOKIES = [TOKEN_COOKIE, "token"];

/** @throws XoError INVALID_REQUEST: several authentication methods, or a malformed header */
export function readCredentials(
  { authorization, cookie = "" }: RequestHeaders,
  otp: string | undefined,
): RequestCredentials {
  const cookies = readCookies(cookie);
  const token = COOKIES.map((name) => cookies.get(name)).find(Boolean);
  if (authorization === undefined)
    return token === undefined ? { kind: "nothing" } : { kind: "token", token };
  if (token !== undefined)
    throw new XoError("INVALID_REQUEST", {
      reason:
        "Having multiple authentication methods is not supported, please choose one",
    });
  return readAuthorization(authorization, otp);
}

function readAuthorization(
  text: string,
  otp: string | undefined,
): RequestCredentials {
  const [, scheme = "", value = ""] = /^(\S+) +(\S+)$/.exec(text.trim()) ?? [];
  switch (scheme.toLowerCase()) {
    case "bearer":
      return { kind: "token", token: value };
    case "basic":
      return readBasic(value, otp);
    default:
      throw malformed();
  }
}

function readBasic(value: string, otp: string | undefined): RequestCredentials {
  const text = Buffer.from(value, "base64").toString("utf8");
  const colon = text.indexOf(":");
  if (colon < 0) throw malformed();
  const name = text.slice(0, colon);
  const password = text.slice(colon + 1);
  return {
    kind: "password",
    name,
    password,
    isRepeated: true,
    ...(otp === undefined ? {} : { otp }),
  };
}

function malformed(): XoError {
  return new XoError("INVALID_REQUEST", {
    reason: "Malformed Authorization header",
  });
}

/**
 * Parses the cookies of a request. If a name occurs several times, the first value
 * is used, whose path is the longest (RFC 6265, 5.4).
 */
export function readCookies(text: string): ReadonlyMap<string, string> {
  const cookies = new Map<string, string>();
  for (const part of text.split(";")) {
    const equals = part.indexOf("=");
    if (equals < 0) continue;
    const name = part.slice(0, equals).trim();
    const value = part.slice(equals + 1).trim();
    if (!cookies.has(name)) cookies.set(name, decode(value));
  }
  return cookies;
}

function decode(value: string): string {
  const bare = value.replace(/^"(.*)"$/, "$1");
  try {
    return decodeURIComponent(bare);
  } catch {
    // Not percent-encoded: the value as it was sent.
    return bare;
  }
}
