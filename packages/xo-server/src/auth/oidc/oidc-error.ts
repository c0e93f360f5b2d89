import { XoError } from "@xo-server/model";
import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
} from "openid-client";

/** Codes of openid-client for an invalid response or token, as opposed to an unavailable provider. */
const INVALID_RESPONSE = /^OAUTH_(JWT_|INVALID_RESPONSE|JSON_ATTRIBUTE)/;

/** A failed sign-in at the provider as an error that may be shown to the user. */
export function toOidcError(error: unknown): XoError {
  if (error instanceof XoError && error.code === "CREDENTIALS_INVALID")
    return error;
  if (error instanceof AuthorizationResponseError)
    return invalid(
      `the provider returned the error ${toErrorCode(error.error)}`,
      error,
    );
  if (error instanceof ResponseBodyError)
    return error.error === "invalid_grant"
      ? invalid("the authorization code is invalid or has expired", error)
      : unavailable(toErrorCode(error.error), error);
  if (error instanceof ClientError && INVALID_RESPONSE.test(error.code ?? ""))
    return invalid("the response of the provider is not valid", error);
  return unavailable(reasonOf(error), error);
}

/** A discovery document that cannot be read or is not valid. Users have entered nothing yet that could be wrong. */
export function toDiscoveryError(error: unknown): XoError {
  const known = toOidcError(error);
  return known.code === "PROVIDER_UNAVAILABLE"
    ? known
    : unavailable(String(known.data["reason"]), error);
}

function invalid(reason: string, cause: unknown): XoError {
  return new XoError("CREDENTIALS_INVALID", { reason }, cause);
}

function unavailable(reason: string, cause: unknown): XoError {
  const provider = "OpenID Connect";
  return new XoError("PROVIDER_UNAVAILABLE", { provider, reason }, cause);
}

/** Error codes are short identifiers (RFC 6749, 5.2); any other string is not repeated to the user. */
function toErrorCode(code: string): string {
  return /^[\w.-]{1,64}$/.test(code) ? code : "(not an error code)";
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
