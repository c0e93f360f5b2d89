import { XoError } from "@xo-server/model";
import type { TokenProof, User } from "@xo-server/store";
import type { Config } from "../../config/config.js";

/**
 * What a session allows: everything that its user may do (`full`), only setting up
 * the second factor (`setUpOnly`), or nothing (`ended`: it began before its user
 * had a second factor).
 */
type SessionAccess = "full" | "setUpOnly" | "ended";

type Account = Pick<User, "permission" | "hasTotp">;

/** Which users need a second factor, by `auth.requireSecondFactor`. */
export class SecondFactorPolicy {
  readonly #required: Config["auth"]["requireSecondFactor"];

  constructor(required: Config["auth"]["requireSecondFactor"] = "none") {
    this.#required = required;
  }

  isRequiredOf({ permission }: Pick<Account, "permission">): boolean {
    switch (this.#required) {
      case "none":
        return false;
      case "administrators":
        return permission === "admin";
      case "all":
        return true;
    }
  }

  /** @param proof how the user proved their identity when the session began */
  accessOf(account: Account, proof: TokenProof): SessionAccess {
    if (proof === "provider" || proof === "administrator") return "full";
    if (!this.isRequiredOf(account)) return "full";
    if (!account.hasTotp) return "setUpOnly";
    return proof === "secondFactor" ? "full" : "ended";
  }

  /**
   * Whether the user must set up a second factor at the next sign-in. Users who can
   * only sign in at an identity provider do not: that provider is responsible for
   * second factors.
   */
  isMissing(
    user: Pick<
      User,
      "permission" | "hasTotp" | "hasPassword" | "authProviders"
    >,
  ): boolean {
    const hasPassword =
      user.hasPassword || Object.hasOwn(user.authProviders, "ldap");
    return hasPassword && !user.hasTotp && this.isRequiredOf(user);
  }
}

/** The error of all operations other than the set-up of the second factor. */
export function secondFactorMissing(): XoError {
  return new XoError("SECOND_FACTOR_REQUIRED", {
    advice:
      "this account has none; sign in with the password on the web page, or call user.enrolTotp and user.confirmTotp, to set it up",
  });
}

/** The error for a token that was created without a second factor, while its user has one now. */
export function tokenWithoutSecondFactor(): XoError {
  return new XoError("SECOND_FACTOR_REQUIRED", {
    advice:
      "this token was created without one; sign in with password and code, and create a new token",
  });
}
