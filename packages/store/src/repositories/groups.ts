import { checkName, checkText } from "../schema/limits.js";
import type { GroupRow } from "../schema/tables.js";
import type { RepositoryContext } from "./repository-context.js";

/** A group of users with common rights. */
export interface Group {
  readonly id: string;
  readonly name: string;
  /** Provider that manages the members (`ldap` ...); absent for local groups. */
  readonly provider?: string;
  readonly createdAt: number;
}

/** Groups and their members. Changes throw XoError STORE_UNAVAILABLE while the database is unreachable. */
export class Groups {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  get size(): number {
    return this.#context.tables.groups.size;
  }

  get(id: string): Group | undefined {
    const row = this.#context.tables.groups.get(id);
    return row && toGroup(row);
  }

  findByName(name: string): Group | undefined {
    const [row] = this.#context.tables.groups.withKey("name", name);
    return row && toGroup(row);
  }

  *list(): IterableIterator<Group> {
    for (const row of this.#context.tables.groups.values()) yield toGroup(row);
  }

  /** Ids of the members of a group. */
  membersOf(id: string): string[] {
    const rows = this.#context.tables.memberships.withKey("group", id);
    return Array.from(rows, (row) => row.user_id);
  }

  /** Ids of the groups of a user. */
  groupsOf(userId: string): string[] {
    const rows = this.#context.tables.memberships.withKey("user", userId);
    return Array.from(rows, (row) => row.group_id);
  }

  /** @throws XoError ALREADY_EXISTS, LIMIT_REACHED, INVALID_PARAMETERS */
  async create(name: string, provider?: string): Promise<Group> {
    const { tables, committer, clock, createId } = this.#context;
    const row: GroupRow = {
      id: createId(),
      name: checkName("the group name", name),
      provider:
        provider === undefined ? null : checkText("the provider", provider),
      created_at: clock.now(),
    };
    await committer.run((unit) => tables.groups.insert(unit, row));
    return toGroup(row);
  }

  /** @throws XoError NO_SUCH_OBJECT, ALREADY_EXISTS, INVALID_PARAMETERS */
  async rename(id: string, name: string): Promise<Group> {
    const { tables, committer } = this.#context;
    tables.groups.require(id);
    checkName("the group name", name);
    return committer.run(async (unit) =>
      toGroup(await tables.groups.update(unit, id, { name })),
    );
  }

  /** Deletes the group and its rights, not its members. @throws XoError NO_SUCH_OBJECT */
  async delete(id: string): Promise<void> {
    const { tables, committer } = this.#context;
    tables.groups.require(id);
    await committer.run(async (unit) => {
      await tables.memberships.removeWhere(unit, "group_id", id);
      await tables.grants.removeWhere(unit, "subject_id", id);
      await tables.acls.removeWhere(unit, "subject", id);
      await tables.groups.remove(unit, id);
    });
  }

  /** No effect for a member. @throws XoError NO_SUCH_OBJECT */
  async addMember(id: string, userId: string): Promise<void> {
    await this.#change(id, [userId], []);
  }

  /** No effect for a user who is not a member. @throws XoError NO_SUCH_OBJECT */
  async removeMember(id: string, userId: string): Promise<void> {
    await this.#change(id, [], [userId]);
  }

  /** Replaces the members. @throws XoError NO_SUCH_OBJECT */
  async setMembers(id: string, userIds: Iterable<string>): Promise<void> {
    const members = new Set(userIds);
    const present = new Set(this.membersOf(id));
    await this.#change(
      id,
      [...members].filter((userId) => !present.has(userId)),
      [...present].filter((userId) => !members.has(userId)),
    );
  }

  async #change(
    id: string,
    added: readonly string[],
    removed: readonly string[],
  ): Promise<void> {
    const { tables, committer } = this.#context;
    tables.groups.require(id);
    for (const userId of added) tables.users.require(userId);
    await committer.run(async (unit) => {
      for (const userId of [...removed, ...added])
        await tables.memberships.removeWhere(unit, "id", `${id}/${userId}`);
      for (const userId of added)
        await tables.memberships.insert(unit, {
          id: `${id}/${userId}`,
          group_id: id,
          user_id: userId,
        });
    });
  }
}

function toGroup(row: GroupRow): Group {
  const { id, name, provider, created_at } = row;
  return {
    id,
    name,
    ...(provider === null ? {} : { provider }),
    createdAt: created_at,
  };
}
