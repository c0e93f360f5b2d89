import { checkName, checkText } from "../schema/limits.js";
import type { RoleRow } from "../schema/tables.js";
import type { RepositoryContext } from "./repository-context.js";

/** A named set of privileges. */
export interface Role {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** Predefined: `viewer`, `operator`, `admin` ... */
  readonly isTemplate: boolean;
  readonly createdAt: number;
}

export interface NewRole {
  readonly name: string;
  readonly description?: string;
  readonly isTemplate?: boolean;
}

/** Roles. Changes throw XoError STORE_UNAVAILABLE while the database is unreachable. */
export class Roles {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  get(id: string): Role | undefined {
    const row = this.#context.tables.roles.get(id);
    return row && toRole(row);
  }

  findByName(name: string): Role | undefined {
    const [row] = this.#context.tables.roles.withKey("name", name);
    return row && toRole(row);
  }

  *list(): IterableIterator<Role> {
    for (const row of this.#context.tables.roles.values()) yield toRole(row);
  }

  /** @throws XoError ALREADY_EXISTS, LIMIT_REACHED, INVALID_PARAMETERS */
  async create(role: NewRole): Promise<Role> {
    const { tables, committer, clock, createId } = this.#context;
    const row: RoleRow = {
      id: createId(),
      name: checkName("the role name", role.name),
      description: checkText("the description", role.description ?? ""),
      is_template: Number(role.isTemplate ?? false),
      created_at: clock.now(),
    };
    await committer.run((unit) => tables.roles.insert(unit, row));
    return toRole(row);
  }

  /** @throws XoError NO_SUCH_OBJECT, ALREADY_EXISTS, INVALID_PARAMETERS */
  async update(
    id: string,
    patch: Partial<Pick<NewRole, "name" | "description">>,
  ): Promise<Role> {
    const { tables, committer } = this.#context;
    const { name, description } = patch;
    const row = tables.roles.require(id);
    const columns = {
      name: checkName("the role name", name ?? row.name),
      description: checkText("the description", description ?? row.description),
    };
    return committer.run(async (unit) =>
      toRole(await tables.roles.update(unit, id, columns)),
    );
  }

  /** Deletes the role with its privileges and grants. @throws XoError NO_SUCH_OBJECT */
  async delete(id: string): Promise<void> {
    const { tables, committer } = this.#context;
    tables.roles.require(id);
    await committer.run(async (unit) => {
      await tables.privileges.removeWhere(unit, "role_id", id);
      await tables.grants.removeWhere(unit, "role_id", id);
      await tables.roles.remove(unit, id);
    });
  }
}

function toRole(row: RoleRow): Role {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    isTemplate: row.is_template === 1,
    createdAt: row.created_at,
  };
}
