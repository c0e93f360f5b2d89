import type { AuthenticatedUser } from "./authenticated-user.js";

/** Lasts from sign-in to sign-out, or until the token or the user is deleted or expires. */
export interface Session {
  readonly userId: string;
  /** The token used to sign in; the session ends with it. */
  readonly tokenId?: string;
  /** The user with their current rights; undefined: the session has ended. */
  user(): AuthenticatedUser | undefined;
}
