import type { PendingSignIn } from "./providers/provider.js";
import type { Session } from "./session.js";

/** Who signs in with a name. */
export interface Credentials {
  readonly name: string;
  readonly password: string;
  /** One-time password, of users with a second factor. */
  readonly otp?: string;
  /** Comes with each request: a password that was right a moment ago is not looked at again. */
  readonly isRepeated?: boolean;
}

/** Turns what a caller shows into a session. */
export interface Authenticator {
  /**
   * @param address of the caller: tries are throttled, uses are noted
   * @throws XoError CREDENTIALS_INVALID
   */
  byToken(token: string, address: string): Promise<Session>;
  /** @throws XoError CREDENTIALS_INVALID */
  byPassword(credentials: Credentials, address: string): Promise<Session>;
  /** Absent: nobody is sent elsewhere. */
  readonly redirect?: RedirectSignIn | undefined;
}

/** Sign-in at a provider, to which the browser is sent. */
export interface RedirectSignIn {
  /** What people call it. */
  readonly label: string;
  /** Where the provider sends people back to; empty: to the host that the browser asked. */
  readonly returnUrl: string;
  /** @throws XoError PROVIDER_UNAVAILABLE */
  begin(returnUrl: string): Promise<{
    readonly url: string;
    readonly pending: PendingSignIn;
  }>;
  /**
   * @param url with which the browser came back
   * @throws XoError CREDENTIALS_INVALID with a `reason`, PROVIDER_UNAVAILABLE
   */
  finish(
    url: string,
    pending: PendingSignIn,
    address: string,
  ): Promise<Session>;
}
