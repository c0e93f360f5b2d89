import type { TokenProof } from "@xo-server/store";
import type { AuthenticatedUser } from "../users/authenticated-user.js";

/**
 * Lasts from sign-in to sign-out, or until the token or the user is deleted or expires, or a limit of
 * sessions is reached.
 */
export interface Session {
  readonly userId: string;
  /** The token used to sign in; the session ends with it. */
  readonly tokenId?: string;
  /** How the user proved their identity. Absent: by a password only. */
  readonly proof?: TokenProof;
  /** When a session without a token began, in ms since the epoch. */
  readonly begunAt?: number;
  /** Whether the password that the session began with was changed since. Absent: it began otherwise. */
  isPasswordChanged?(): boolean;
  /** The user with their current rights; undefined: the session has ended. */
  user(): AuthenticatedUser | undefined;
  /** To be called when the client uses the session. Absent: uses are recorded elsewhere. */
  used?(): void;
}
