import { XoError } from "@xo-server/model";
import type { Role, Store, User } from "@xo-server/store";
import type { AuthenticatedUser } from "./authenticated-user.js";
import { toPublicGroup, type PublicGroup } from "./public-group.js";
import {
  privilegesOf,
  toPublicRole,
  type PublicPrivilege,
  type PublicRole,
} from "./public-role.js";
import type { SecondFactorPolicy } from "../second-factor/second-factor-policy.js";
import { toPublicUser, type PublicUser } from "./public-user.js";

type AccountStore = Pick<
  Store,
  "users" | "groups" | "roles" | "grants" | "privileges"
>;

interface AccountSources {
  readonly store: AccountStore;
  readonly secondFactors: SecondFactorPolicy;
}

/** Type of an account object in privileges. */
type AccountType = "user" | "group" | "acl-role" | "acl-privilege";

/**
 * Users, groups, roles and privileges that a user may read: admins all; other users
 * those that their privileges name, themselves, and their own groups and roles.
 * Invisible objects are reported as missing.
 */
export class VisibleAccounts {
  readonly #store: AccountStore;
  readonly #secondFactors: SecondFactorPolicy;
  readonly #viewer: AuthenticatedUser;
  #ownRoles: ReadonlySet<string> | undefined;

  constructor(
    { store, secondFactors }: AccountSources,
    viewer: AuthenticatedUser,
  ) {
    this.#store = store;
    this.#secondFactors = secondFactors;
    this.#viewer = viewer;
  }

  users(): PublicUser[] {
    return this.#select(this.#store.users.list(), (user) =>
      this.#visibleUser(this.#toPublic(user)),
    );
  }

  /** @throws XoError NO_SUCH_OBJECT, like all methods for a single object */
  user(id: string): PublicUser {
    const user = this.#store.users.get(id);
    const visible = user && this.#visibleUser(this.#toPublic(user));
    return visible ?? missing("user", id);
  }

  #toPublic(user: User): PublicUser {
    return toPublicUser(user, this.#store, this.#secondFactors);
  }

  groups(): PublicGroup[] {
    return this.#select(this.#store.groups.list(), (group) =>
      this.#visibleGroup(toPublicGroup(group, this.#store)),
    );
  }

  group(id: string): PublicGroup {
    const group = this.#store.groups.get(id);
    const visible =
      group && this.#visibleGroup(toPublicGroup(group, this.#store));
    return visible ?? missing("group", id);
  }

  roles(): PublicRole[] {
    return this.#select(this.#store.roles.list(), (role) =>
      this.#visibleRole(role),
    );
  }

  role(id: string): PublicRole {
    const role = this.#store.roles.get(id);
    return (role && this.#visibleRole(role)) ?? missing("role", id);
  }

  groupsOf(userId: string): PublicGroup[] {
    this.user(userId);
    const ids = new Set(this.#store.groups.groupsOf(userId));
    return this.groups().filter(({ id }) => ids.has(id));
  }

  membersOf(groupId: string): PublicUser[] {
    const ids = new Set(this.group(groupId).users);
    return this.users().filter(({ id }) => ids.has(id));
  }

  rolesOfGroup(groupId: string): PublicRole[] {
    const { id } = this.group(groupId);
    const ids = new Set(this.#store.grants.rolesOf({ type: "group", id }));
    return this.roles().filter((role) => ids.has(role.id));
  }

  usersWith(roleId: string): PublicUser[] {
    const ids = this.#subjectsOf(roleId, "user");
    return this.users().filter(({ id }) => ids.has(id));
  }

  groupsWith(roleId: string): PublicGroup[] {
    const ids = this.#subjectsOf(roleId, "group");
    return this.groups().filter(({ id }) => ids.has(id));
  }

  /** Privileges of all roles but the built-in ones. */
  privileges(): PublicPrivilege[] {
    return Array.from(this.#store.roles.list())
      .filter(({ isTemplate }) => !isTemplate)
      .flatMap((role) => this.#privilegesOf(role));
  }

  privilegesOfRole(id: string): PublicPrivilege[] {
    this.role(id);
    return this.#privilegesOf(this.#store.roles.get(id)!);
  }

  /** Includes the privileges of the user's groups. */
  privilegesOfUser(id: string): PublicPrivilege[] {
    this.user(id);
    return [...this.#rolesOfUser(id)]
      .map((roleId) => this.#store.roles.get(roleId))
      .filter((role) => role !== undefined)
      .flatMap((role) => this.#privilegesOf(role));
  }

  privilege(id: string): PublicPrivilege {
    const roleId = this.#store.privileges.get(id)?.roleId;
    const role = this.#store.roles.get(roleId ?? builtInRoleIdOf(id));
    const visible =
      role && this.#privilegesOf(role).find((one) => one.id === id);
    return visible ?? missing("privilege", id);
  }

  #subjectsOf(roleId: string, type: "user" | "group"): Set<string> {
    const subjects = this.#store.grants.subjectsOf(this.role(roleId).id);
    return new Set(
      subjects.filter((one) => one.type === type).map(({ id }) => id),
    );
  }

  #privilegesOf(role: Role): PublicPrivilege[] {
    const isOwn = this.#hasRole(role.id);
    return privilegesOf(role, this.#store).filter(
      (privilege) => isOwn || this.#may("acl-privilege", privilege),
    );
  }

  #visibleUser(user: PublicUser): PublicUser | undefined {
    const isOwn = user.id === this.#viewer.id;
    return isOwn || this.#may("user", user) ? user : undefined;
  }

  /** Members of a group see themselves only. */
  #visibleGroup(group: PublicGroup): PublicGroup | undefined {
    if (this.#may("group", group)) return group;
    const { id, groups } = this.#viewer;
    return groups.includes(group.id) ? { ...group, users: [id] } : undefined;
  }

  #visibleRole(stored: Role): PublicRole | undefined {
    const role = toPublicRole(stored);
    const isVisible = this.#hasRole(role.id) || this.#may("acl-role", role);
    return isVisible ? role : undefined;
  }

  #hasRole(id: string): boolean {
    this.#ownRoles ??= this.#rolesOfUser(this.#viewer.id);
    return this.#ownRoles.has(id);
  }

  #rolesOfUser(id: string): Set<string> {
    const { groups, grants } = this.#store;
    const subjects = [
      { type: "user" as const, id },
      ...groups
        .groupsOf(id)
        .map((group) => ({ type: "group" as const, id: group })),
    ];
    return new Set(subjects.flatMap((subject) => grants.rolesOf(subject)));
  }

  #may(kind: AccountType, object: object): boolean {
    const { isAdmin, rights } = this.#viewer;
    return isAdmin || rights.may("read", kind, { ...object, type: kind });
  }

  #select<T, U>(all: Iterable<T>, see: (one: T) => U | undefined): U[] {
    return Array.from(all, see).filter((item) => item !== undefined);
  }
}

/** Ids of built-in privileges are `<role id>-<index>`, see privilegesOf. */
function builtInRoleIdOf(privilegeId: string): string {
  return privilegeId.replace(/-\d+$/, "");
}

function missing(type: string, id: string): never {
  throw new XoError("NO_SUCH_OBJECT", { type, id });
}
