import type { AuthenticatedUser } from "./authenticated-user.js";

/** Somebody's stay, from signing in until signing out or until what they signed in with is over. */
export interface Session {
  readonly userId: string;
  /** Of the token that it began with; it ends with that. */
  readonly tokenId?: string;
  /** Who it is, with the rights of now; undefined: the session is over. */
  user(): AuthenticatedUser | undefined;
}
