import { createHash } from "node:crypto";
import { compileFilter, parseFilter } from "@xo-server/inventory";
import type { Store, Subject } from "@xo-server/store";
import { toAclPrivileges } from "../../rights/acl-privileges.js";
import { builtInRoles } from "../../rights/built-in-roles.js";
import type { Privilege } from "../../rights/privilege.js";
import type { ObjectFinder } from "../../rights/owners.js";
import { Rights } from "../../rights/rights.js";
import { toSetPrivileges } from "../../rights/set-privileges.js";

/** Maximum number of distinct rights in the cache; others are computed each time. */
const MAX_ENTRIES = 1_000;

type Sources = Pick<
  Store,
  "groups" | "grants" | "roles" | "privileges" | "acls" | "resourceSets"
>;

/**
 * Rights of users, from the roles and ACLs of the user and their groups. Users
 * with equal rights get the same object: subscribers with the same rights share
 * encodings, and a change without effect does not invalidate them.
 */
export class RightsCache {
  readonly #store: Sources;
  readonly #find: ObjectFinder | undefined;
  /** By a hash of the privileges, least recently used first. */
  readonly #rights = new Map<string, Rights>();

  /** @param find see Rights */
  constructor(store: Sources, find?: ObjectFinder) {
    this.#store = store;
    this.#find = find;
  }

  ofUser(id: string): Rights {
    const subjects: Subject[] = [
      { type: "user", id },
      ...this.#store.groups
        .groupsOf(id)
        .map((group) => ({ type: "group" as const, id: group })),
    ];
    const roles = new Set(
      subjects.flatMap((subject) => this.#store.grants.rolesOf(subject)),
    );
    const privileges = [...roles].flatMap((role) => this.#privilegesOf(role));
    const acls = subjects
      .flatMap((subject) => [...this.#store.acls.ofSubject(subject.id)])
      .map(({ object, action }) => ({ object, action }));
    const sets = [...this.#store.resourceSets.list()]
      .filter((set) => subjects.some((one) => set.subjects.includes(one.id)))
      .map(({ objects, pools }) => ({ objects, pools }));
    const key = keyOf([...privileges, ...acls, ...sets]);
    const rights =
      this.#rights.get(key) ??
      new Rights(
        [...privileges, ...toAclPrivileges(acls), ...toSetPrivileges(sets)],
        this.#find,
      );
    this.#rights.delete(key);
    this.#rights.set(key, rights);
    if (this.#rights.size > MAX_ENTRIES)
      this.#rights.delete(this.#rights.keys().next().value!);
    return rights;
  }

  #privilegesOf(roleId: string): readonly Privilege[] {
    const role = this.#store.roles.get(roleId);
    const builtIn =
      role?.isTemplate === true
        ? builtInRoles.find(({ name }) => name === role.name)
        : undefined;
    return (
      builtIn?.privileges ??
      [...this.#store.privileges.ofRole(roleId)].flatMap(toUsable)
    );
  }
}

/** A selector that cannot be parsed matches nothing for `allow` and everything for `deny`. */
function toUsable(stored: {
  readonly effect: "allow" | "deny";
  readonly resource: string;
  readonly action: string;
  readonly selector?: unknown;
}): Privilege[] {
  const { effect, resource, action, selector } = stored;
  const plain = { effect, resource, action };
  if (selector === undefined) return [plain];
  if (isSelector(selector)) return [{ ...plain, selector }];
  return effect === "allow" ? [] : [plain];
}

/** Whether a stored selector is a valid filter; an empty one matches everything. */
function isSelector(selector: unknown): selector is string {
  if (typeof selector !== "string") return false;
  try {
    compileFilter(parseFilter(selector));
    return true;
  } catch {
    // Not a filter.
    return selector.trim() === "";
  }
}

function keyOf(parts: readonly object[]): string {
  const lines = parts.map((part) => JSON.stringify(part)).toSorted();
  return createHash("sha256").update(lines.join("\n")).digest("base64");
}
