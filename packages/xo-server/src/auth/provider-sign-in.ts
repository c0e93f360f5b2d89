import type { Config } from "../config/config.js";
import type { RedirectSignIn } from "./authenticator.js";
import type { PendingSignIn } from "./providers/provider.js";
import type { ExternalUsers } from "./external-users.js";
import type { OidcProvider } from "./oidc/oidc-provider.js";
import type { Session } from "./session.js";
import type { StoredSessions } from "./stored-sessions.js";
import type { SignInLog } from "./sign-in-log.js";

export interface ProviderSignInOptions {
  readonly oidc: Pick<Config["oidc"], "label" | "redirectUrl">;
  readonly provider: OidcProvider;
  readonly externalUsers: ExternalUsers;
  readonly sessions: Pick<StoredSessions, "of">;
  readonly log: Pick<SignInLog, "write">;
}

/**
 * Creates sessions for users that an OpenID Connect provider has authenticated.
 * Two-factor authentication is up to the provider.
 */
export class ProviderSignIn implements RedirectSignIn {
  readonly label: string;
  readonly returnUrl: string;
  readonly #options: ProviderSignInOptions;

  constructor(options: ProviderSignInOptions) {
    this.#options = options;
    this.label = options.oidc.label;
    this.returnUrl = options.oidc.redirectUrl;
  }

  begin(returnUrl: string): ReturnType<RedirectSignIn["begin"]> {
    return this.#options.provider.begin(returnUrl);
  }

  async finish(
    url: string,
    pending: PendingSignIn,
    address: string,
  ): Promise<Session> {
    const {
      provider,
      externalUsers: foreignPeople,
      sessions,
      log,
    } = this.#options;
    const { policy } = provider;
    const entry = { address, provider: policy.provider };
    try {
      const identity = await provider.finish(url, pending);
      const user = await foreignPeople.signIn(identity, policy);
      await log.write({ ...entry, user });
      return sessions.of({ userId: user.id, proof: "provider" });
    } catch (error) {
      await log.write({ ...entry, error: error as Error });
      throw error;
    }
  }
}
