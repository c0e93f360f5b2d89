import type { RedirectSignIn } from "./authenticator.js";
import type {
  PendingSignIn,
  ProviderResponse,
  RedirectProvider,
} from "../providers/provider.js";
import type { ExternalUsers } from "../users/external-users.js";
import type { Session } from "../sessions/session.js";
import type { StoredSessions } from "../sessions/stored-sessions.js";
import type { SignInLog } from "./sign-in-log.js";

export interface ProviderSignInOptions {
  readonly label: string;
  /** Empty: derived from the host of the request. */
  readonly returnUrl: string;
  readonly provider: RedirectProvider;
  readonly externalUsers: ExternalUsers;
  readonly sessions: Pick<StoredSessions, "of">;
  readonly log: Pick<SignInLog, "write">;
}

/**
 * Creates sessions for users whom a provider of OpenID Connect or SAML has authenticated.
 * The provider is responsible for two-factor authentication.
 */
export class ProviderSignIn implements RedirectSignIn {
  readonly id: string;
  readonly label: string;
  readonly returnUrl: string;
  readonly #options: ProviderSignInOptions;

  constructor(options: ProviderSignInOptions) {
    this.#options = options;
    this.id = options.provider.policy.provider;
    this.label = options.label;
    this.returnUrl = options.returnUrl;
  }

  begin(returnUrl: string): ReturnType<RedirectSignIn["begin"]> {
    return this.#options.provider.begin(returnUrl);
  }

  metadata(callbackUrl: string): string | undefined {
    return this.#options.provider.metadata?.(callbackUrl);
  }

  async finish(
    response: ProviderResponse,
    pending: PendingSignIn,
  ): Promise<Session> {
    const { provider, externalUsers, sessions, log } = this.#options;
    const { policy } = provider;
    const { address } = response;
    const entry = { address, provider: policy.provider };
    try {
      const identity = await provider.finish(response, pending);
      const user = await externalUsers.signIn(identity, policy);
      await log.write({ ...entry, user });
      return sessions.of({ userId: user.id, proof: "provider" });
    } catch (error) {
      await log.write({ ...entry, error: error as Error });
      throw error;
    }
  }
}
