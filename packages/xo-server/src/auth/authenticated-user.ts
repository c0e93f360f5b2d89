import type { Rights } from "../rights/rights.js";

/** Somebody who has signed in. */
export interface AuthenticatedUser {
  /** Of the user in the store. */
  readonly id: string;
  /** The name that they sign in with: an e-mail address, as a rule. */
  readonly name: string;
  readonly isAdmin: boolean;
  /** Ids of the groups that they are in. */
  readonly groups: readonly string[];
  /** Of all roles that they and their groups have; renewed when these change. Admins have all. */
  readonly rights: Rights;
}
