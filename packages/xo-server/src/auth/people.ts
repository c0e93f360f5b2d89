import type { Store } from "@xo-server/store";
import { Rights } from "../rights/rights.js";
import type { Person } from "./person.js";
import { RightsOf } from "./rights-of.js";

/** Tables that say who somebody is and what they may do. */
const TABLES: ReadonlySet<string> = new Set([
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
export class People {
  readonly #store: Store;
  readonly #rightsOf: RightsOf;
  readonly #known = new Map<string, Person>();
  readonly #stop: () => void;

  constructor(store: Store) {
    this.#store = store;
    this.#rightsOf = new RightsOf(store);
    this.#stop = store.onChange((table) => {
      if (TABLES.has(table)) this.#known.clear();
    });
  }

  /** Undefined: there is no such user (any more). */
  get(userId: string): Person | undefined {
    let person = this.#known.get(userId);
    if (person !== undefined) return person;
    person = this.#make(userId);
    if (person !== undefined) this.#known.set(userId, person);
    return person;
  }

  stop(): void {
    this.#stop();
  }

  #make(userId: string): Person | undefined {
    const user = this.#store.users.get(userId);
    if (user === undefined) return undefined;
    const isAdmin = user.permission === "admin";
    return {
      id: user.id,
      name: user.name,
      isAdmin,
      groups: this.#store.groups.groupsOf(user.id),
      rights: isAdmin ? Rights.all : this.#rightsOf.user(user.id),
    };
  }
}
