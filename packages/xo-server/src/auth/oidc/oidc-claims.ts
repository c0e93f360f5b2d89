import { XoError } from "@xo-server/model";
import type { Config } from "../../config/config.js";
import type { ExternalIdentity } from "../providers/provider.js";

/** Claims of an ID token or of the userinfo endpoint. */
type Claims = Readonly<Record<string, unknown>> & {
  readonly iss?: unknown;
  readonly sub?: unknown;
};

/** @throws XoError CREDENTIALS_INVALID: a required claim is missing */
export function toExternalIdentity(
  claims: Claims,
  { nameClaim, groupsClaim }: Pick<Config["oidc"], "nameClaim" | "groupsClaim">,
): ExternalIdentity {
  const name = claimOf(claims, nameClaim);
  if (typeof name !== "string" || name.trim() === "")
    throw toInvalidCredentials(`the provider sent no claim "${nameClaim}"`);
  if (nameClaim === "email" && claimOf(claims, "email_verified") === false)
    throw toInvalidCredentials(
      "the provider has not verified the e-mail address",
    );
  return {
    // `sub` is unique only within an issuer (OpenID Connect Core, 2).
    id: `${String(claims.iss)}#${String(claims.sub)}`,
    name,
    groups:
      groupsClaim === "" ? undefined : toNames(claimOf(claims, groupsClaim)),
  };
}

function claimOf(claims: Claims, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}

/** Providers omit the claim for users without groups; some send a single group as a string. */
function toNames(claim: unknown): string[] {
  return [claim].flat().filter((name) => typeof name === "string");
}

function toInvalidCredentials(reason: string): XoError {
  return new XoError("CREDENTIALS_INVALID", { reason });
}
