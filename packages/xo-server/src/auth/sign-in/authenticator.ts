import type { PendingSignIn, ProviderResponse } from "../providers/provider.js";
import type { Session } from "../sessions/session.js";

/** A user name and a password, as sent by a client. */
export interface Credentials {
  readonly name: string;
  readonly password: string;
  /** Two-factor code (TOTP), for users who have enrolled. */
  readonly otp?: string;
  /** The client sends the password with each request (HTTP Basic): a recent successful verification is reused. */
  readonly isRepeated?: boolean;
}

/** Creates sessions from credentials. */
export interface Authenticator {
  /**
   * @param address of the client: attempts are throttled, the last use of a token is recorded
   * @param options.countsAsUse false: the use is not recorded. Default: true
   * @throws XoError CREDENTIALS_INVALID, SECOND_FACTOR_REQUIRED: the token was created without one
   */
  byToken(
    token: string,
    address: string,
    options?: { readonly countsAsUse: boolean },
  ): Promise<Session>;
  /**
   * @param disconnected aborted when the client has disconnected: a waiting attempt is abandoned
   * @throws XoError CREDENTIALS_INVALID, SIGN_IN_THROTTLED (the password was not verified),
   *   TOO_MANY_REQUESTS, ABORTED
   */
  byPassword(
    credentials: Credentials,
    address: string,
    disconnected?: AbortSignal,
  ): Promise<Session>;
  /** Providers of OpenID Connect and SAML that are configured. */
  readonly redirects?: readonly RedirectSignIn[];
}

/** Sign-in at a provider to which the browser is redirected. */
export interface RedirectSignIn {
  /** `oidc` or `saml`. */
  readonly id: string;
  /** Shown on the sign-in page. */
  readonly label: string;
  /** Callback URL; empty: derived from the host of the request. */
  readonly returnUrl: string;
  /** Metadata of this server for a provider of SAML, XML. */
  metadata(callbackUrl: string): string | undefined;
  /** @throws XoError PROVIDER_UNAVAILABLE */
  begin(returnUrl: string): Promise<{
    readonly url: string;
    readonly pending: PendingSignIn;
  }>;
  /** @throws XoError CREDENTIALS_INVALID with a `reason`, PROVIDER_UNAVAILABLE */
  finish(response: ProviderResponse, pending: PendingSignIn): Promise<Session>;
}
