import { XoError } from "@xo-server/model";
import type { Config } from "../../config/config.js";
import type { ExternalIdentity } from "../providers/provider.js";

/** What a provider says of somebody. */
export type Claims = Readonly<Record<string, unknown>> & {
  readonly iss?: unknown;
  readonly sub?: unknown;
};

/** @throws XoError CREDENTIALS_INVALID when it does not say enough */
export function toExternalIdentity(
  claims: Claims,
  { nameClaim, groupsClaim }: Pick<Config["oidc"], "nameClaim" | "groupsClaim">,
): ExternalIdentity {
  const name = claimOf(claims, nameClaim);
  if (typeof name !== "string" || name.trim() === "")
    throw toInvalidCredentials(`the provider does not tell ${nameClaim}`);
  if (nameClaim === "email" && claimOf(claims, "email_verified") === false)
    throw toInvalidCredentials(
      "the provider has not verified the e-mail address",
    );
  return {
    // A subject is one within its issuer.
    id: `${String(claims.iss)}#${String(claims.sub)}`,
    name,
    groups:
      groupsClaim === "" ? undefined : toNames(claimOf(claims, groupsClaim)),
  };
}

function claimOf(claims: Claims, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}

/** Providers leave the claim out for who is in no group, and some write one group without a list. */
function toNames(claim: unknown): string[] {
  return [claim].flat().filter((name) => typeof name === "string");
}

function toInvalidCredentials(reason: string): XoError {
  return new XoError("CREDENTIALS_INVALID", { reason });
}
