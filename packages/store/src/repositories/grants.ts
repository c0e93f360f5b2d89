import type { GrantRow } from "../schema/tables.js";
import type { RepositoryContext } from "./repository-context.js";

/** A user or group that can have roles. */
export interface Subject {
  readonly type: "user" | "group";
  readonly id: string;
}

/** Roles granted to users and groups. Changes throw XoError STORE_UNAVAILABLE while the database is unreachable. */
export class Grants {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  /** Ids of the roles granted to the subject itself, without those of the groups of a user. */
  rolesOf({ type, id }: Subject): string[] {
    const rows = this.#context.tables.grants.withKey(
      "subject",
      `${type}/${id}`,
    );
    return Array.from(rows, (row) => row.role_id);
  }

  subjectsOf(roleId: string): Subject[] {
    const rows = this.#context.tables.grants.withKey("role", roleId);
    return Array.from(rows, (row) => ({
      type: row.subject_type === "group" ? "group" : "user",
      id: row.subject_id,
    }));
  }

  /** @throws XoError NO_SUCH_OBJECT for role or subject, ALREADY_EXISTS */
  async add(roleId: string, subject: Subject): Promise<void> {
    const { tables, committer } = this.#context;
    tables.roles.require(roleId);
    tables[subject.type === "user" ? "users" : "groups"].require(subject.id);
    const row: GrantRow = {
      id: idOf(roleId, subject),
      role_id: roleId,
      subject_type: subject.type,
      subject_id: subject.id,
    };
    await committer.run((unit) => tables.grants.insert(unit, row));
  }

  /** @throws XoError NO_SUCH_OBJECT */
  async remove(roleId: string, subject: Subject): Promise<void> {
    const { tables, committer } = this.#context;
    const id = idOf(roleId, subject);
    tables.grants.require(id);
    await committer.run((unit) => tables.grants.remove(unit, id));
  }
}

function idOf(roleId: string, { type, id }: Subject): string {
  return `${roleId}/${type}/${id}`;
}
