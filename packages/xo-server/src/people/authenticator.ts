import type { Session } from "./session.js";

/** Who signs in with a name. */
export interface Credentials {
  readonly name: string;
  readonly password: string;
  /** One-time password, of users with a second factor. */
  readonly otp?: string;
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
}
