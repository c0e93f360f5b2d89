import type { Store } from "@xo-server/store";
import { Rights } from "../rights/rights.js";
import type { AuthenticatedUser } from "./authenticated-user.js";
import { RightsCache } from "./rights-cache.js";

/** Tables that say who somebody is and what they may do. */
const ACCOUNT_TABLES: ReadonlySet<string> = new Set([
  "users",
  "groups",
  "memberships",
  "roles",
  "privileges",
  "grants",
  "acls",
  "resource_sets",
]);

/** The users of the store as callers: with groups and rights, made once and again when these change. */
export class AuthenticatedUsers {
  readonly #store: Store;
  readonly #rightsOf: RightsCache;
  readonly #users = new Map<string, AuthenticatedUser>();
  readonly #stop: () => void;

  constructor(store: Store) {
    this.#store = store;
    this.#rightsOf = new RightsCache(store);
    this.#stop = store.onChange((table) => {
      if (ACCOUNT_TABLES.has(table)) this.#users.clear();
    });
  }

  /** Undefined: there is no such user (any more). */
  get(userId: string): AuthenticatedUser | undefined {
    let person = this.#users.get(userId);
    if (person !== undefined) return person;
    person = this.#load(userId);
    if (person !== undefined) this.#users.set(userId, person);
    return person;
  }

  stop(): void {
    this.#stop();
  }

  #load(userId: string): AuthenticatedUser | undefined {
    const user = this.#store.users.get(userId);
    if (user === undefined) return undefined;
    const isAdmin = user.permission === "admin";
    return {
      id: user.id,
      name: user.name,
      isAdmin,
      groups: this.#store.groups.groupsOf(user.id),
      rights: isAdmin ? Rights.all : this.#rightsOf.ofUser(user.id),
    };
  }
}
