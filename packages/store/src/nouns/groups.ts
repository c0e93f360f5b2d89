import { checkName, checkText } from "../limits.js";
import type { GroupRow } from "../tables.js";
import type { Parts } from "./parts.js";

/** Users who have rights in common. */
export interface Group {
  readonly id: string;
  readonly name: string;
  /** Who says who is in it (`ldap` ...); left out for groups of our own. */
  readonly provider?: string;
  readonly createdAt: number;
}

/** Groups and who is in them. Changes throw XoError STORE_UNAVAILABLE while the database is gone. */
export class Groups {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get(id: string): Group | undefined {
    const row = this.#parts.tables.groups.get(id);
    return row && toGroup(row);
  }

  findByName(name: string): Group | undefined {
    const [row] = this.#parts.tables.groups.having("name", name);
    return row && toGroup(row);
  }

  *list(): IterableIterator<Group> {
    for (const row of this.#parts.tables.groups.values()) yield toGroup(row);
  }

  /** Ids of the users in a group. */
  membersOf(id: string): string[] {
    const rows = this.#parts.tables.memberships.having("group", id);
    return Array.from(rows, (row) => row.user_id);
  }

  /** Ids of the groups that a user is in. */
  groupsOf(userId: string): string[] {
    const rows = this.#parts.tables.memberships.having("user", userId);
    return Array.from(rows, (row) => row.group_id);
  }

  /** @throws XoError ALREADY_EXISTS, LIMIT_REACHED, INVALID_PARAMETERS */
  async create(name: string, provider?: string): Promise<Group> {
    const { tables, committer, clock, createId } = this.#parts;
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
    const { tables, committer } = this.#parts;
    tables.groups.require(id);
    checkName("the group name", name);
    return committer.run(async (unit) =>
      toGroup(await tables.groups.update(unit, id, { name })),
    );
  }

  /** With its rights; the members stay users. @throws XoError NO_SUCH_OBJECT */
  async delete(id: string): Promise<void> {
    const { tables, committer } = this.#parts;
    tables.groups.require(id);
    await committer.run(async (unit) => {
      await tables.memberships.removeWhere(unit, "group_id", id);
      await tables.grants.removeWhere(unit, "subject_id", id);
      await tables.acls.removeWhere(unit, "subject", id);
      await tables.groups.remove(unit, id);
    });
  }

  /** Who is in it already stays. @throws XoError NO_SUCH_OBJECT */
  async addMember(id: string, userId: string): Promise<void> {
    await this.#change(id, [userId], []);
  }

  /** Who is not in it stays out. @throws XoError NO_SUCH_OBJECT */
  async removeMember(id: string, userId: string): Promise<void> {
    await this.#change(id, [], [userId]);
  }

  /** Makes these the members, and nobody else. @throws XoError NO_SUCH_OBJECT */
  async setMembers(id: string, userIds: Iterable<string>): Promise<void> {
    const wanted = new Set(userIds);
    const present = new Set(this.membersOf(id));
    await this.#change(
      id,
      [...wanted].filter((userId) => !present.has(userId)),
      [...present].filter((userId) => !wanted.has(userId)),
    );
  }

  async #change(
    id: string,
    added: readonly string[],
    removed: readonly string[],
  ): Promise<void> {
    const { tables, committer } = this.#parts;
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
