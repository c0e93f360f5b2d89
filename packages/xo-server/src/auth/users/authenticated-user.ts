import type { Rights } from "../../rights/rights.js";

/** A signed-in user. */
export interface AuthenticatedUser {
  /** Id of the user in the store. */
  readonly id: string;
  /** The name used to sign in, usually an e-mail address. */
  readonly name: string;
  readonly isAdmin: boolean;
  /** Ids of the user's groups. */
  readonly groups: readonly string[];
  /** From all roles and ACLs of the user and their groups, as of now. Admins have all rights. */
  readonly rights: Rights;
  /** Whether the user has a second factor (TOTP). Absent: no. */
  readonly hasTotp?: boolean;
  /** A second factor is required and the user has none: the session may only set it up, and has no rights. */
  readonly isSetUpOnly?: boolean;
}
