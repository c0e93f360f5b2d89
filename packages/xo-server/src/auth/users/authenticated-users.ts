import type { Store } from "@xo-server/store";
import type { ObjectFinder } from "../../rights/owners.js";
import { Rights } from "../../rights/rights.js";
import type { AuthenticatedUser } from "./authenticated-user.js";
import { RightsCache } from "./rights-cache.js";

/** Tables that identities and rights are derived from. */
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

/** Users of the store with their groups and rights; cached until one of the tables changes. */
export class AuthenticatedUsers {
  readonly #store: Store;
  readonly #rightsOf: RightsCache;
  readonly #users = new Map<string, AuthenticatedUser>();
  readonly #stop: () => void;

  /** @param find see Rights */
  constructor(store: Store, find?: ObjectFinder) {
    this.#store = store;
    this.#rightsOf = new RightsCache(store, find);
    this.#stop = store.onChange((table) => {
      if (ACCOUNT_TABLES.has(table)) this.#users.clear();
    });
  }

  /** Undefined: no such user. */
  get(userId: string): AuthenticatedUser | undefined {
    const cached = this.#users.get(userId);
    if (cached !== undefined) return cached;
    const user = this.#load(userId);
    if (user !== undefined) this.#users.set(userId, user);
    return user;
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
      hasTotp: user.hasTotp,
      rights: isAdmin ? Rights.all : this.#rightsOf.ofUser(user.id),
    };
  }
}
