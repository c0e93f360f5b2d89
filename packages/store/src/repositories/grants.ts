import type { GrantRow } from "../schema/tables.js";
import type { RepositoryContext } from "./repository-context.js";

/** Who may have a role. */
export interface Subject {
  readonly type: "user" | "group";
  readonly id: string;
}

/** Who has which role. Changes throw XoError STORE_UNAVAILABLE while the database is gone. */
export class Grants {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  /** Ids of the roles that a subject has itself. A user has those of his groups besides. */
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

  /** @throws XoError NO_SUCH_OBJECT for either, ALREADY_EXISTS */
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
