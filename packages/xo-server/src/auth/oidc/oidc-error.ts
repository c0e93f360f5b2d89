import { XoError } from "@xo-server/model";
import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
} from "openid-client";

/** Codes of openid-client that are about what a person brought, not about how the provider is. */
const INVALID_RESPONSE = /^OAUTH_(JWT_|INVALID_RESPONSE|JSON_ATTRIBUTE)/;

/** A failure on the way through the provider, as it may be told to who signs in. */
export function toOidcError(error: unknown): XoError {
  if (error instanceof XoError && error.code === "CREDENTIALS_INVALID")
    return error;
  if (error instanceof AuthorizationResponseError)
    return invalid(`the provider says ${toErrorCode(error.error)}`, error);
  if (error instanceof ResponseBodyError)
    return error.error === "invalid_grant"
      ? invalid("the provider does not know this sign-in any more", error)
      : unavailable(toErrorCode(error.error), error);
  if (error instanceof ClientError && INVALID_RESPONSE.test(error.code ?? ""))
    return invalid("the provider's answer is not what was asked for", error);
  return unavailable(reasonOf(error), error);
}

function invalid(reason: string, cause: unknown): XoError {
  return new XoError("CREDENTIALS_INVALID", { reason }, cause);
}

function unavailable(reason: string, cause: unknown): XoError {
  const provider = "OpenID Connect";
  return new XoError("PROVIDER_UNAVAILABLE", { provider, reason }, cause);
}

/** Error codes are words (RFC 6749, 5.2); whatever else somebody put there is not repeated. */
function toErrorCode(code: string): string {
  return /^[\w.-]{1,64}$/.test(code) ? code : "something that is no error code";
}

function reasonOf(error: unknown): string {
  if (error instanceof XoError) return error.code;
  const { code, cause } = error as {
    readonly code?: unknown;
    readonly cause?: { readonly code?: unknown } | undefined;
  };
  const known = typeof code === "string" ? code : cause?.code;
  return typeof known === "string" ? known : "no answer";
}
