import { checkName, toJson } from "../schema/limits.js";
import type { PrivilegeRow } from "../schema/tables.js";
import type { RepositoryContext } from "./repository-context.js";

/** Allows or denies an action on a type of resource. */
export interface Privilege {
  readonly id: string;
  readonly roleId: string;
  readonly effect: "allow" | "deny";
  /** `vm`, `host` ... or `*`. */
  readonly resource: string;
  /** `start`, `snapshot` ... or `*`. */
  readonly action: string;
  /** Selects objects; absent: all. JSON, not interpreted by the store. */
  readonly selector?: unknown;
}

export type NewPrivilege = Omit<Privilege, "id">;

/** Privileges of roles. Changes throw XoError STORE_UNAVAILABLE while the database is unreachable. */
export class Privileges {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  get(id: string): Privilege | undefined {
    const row = this.#context.tables.privileges.get(id);
    return row && toPrivilege(row);
  }

  *list(): IterableIterator<Privilege> {
    for (const row of this.#context.tables.privileges.values())
      yield toPrivilege(row);
  }

  *ofRole(roleId: string): IterableIterator<Privilege> {
    for (const row of this.#context.tables.privileges.withKey("role", roleId))
      yield toPrivilege(row);
  }

  /** @throws XoError NO_SUCH_OBJECT for a missing role, LIMIT_REACHED, INVALID_PARAMETERS */
  async create(privilege: NewPrivilege): Promise<Privilege> {
    const { tables, committer, createId } = this.#context;
    tables.roles.require(privilege.roleId);
    const row = toRow(createId(), privilege);
    await committer.run((unit) => tables.privileges.insert(unit, row));
    return toPrivilege(row);
  }

  /** @throws XoError NO_SUCH_OBJECT, INVALID_PARAMETERS */
  async update(
    id: string,
    patch: Partial<Omit<NewPrivilege, "roleId">>,
  ): Promise<Privilege> {
    const { tables, committer } = this.#context;
    const old = toPrivilege(tables.privileges.require(id));
    const row = toRow(id, { ...old, ...patch });
    return committer.run(async (unit) =>
      toPrivilege(await tables.privileges.update(unit, id, row)),
    );
  }

  /** @throws XoError NO_SUCH_OBJECT */
  async delete(id: string): Promise<void> {
    const { tables, committer } = this.#context;
    tables.privileges.require(id);
    await committer.run((unit) => tables.privileges.remove(unit, id));
  }
}

function toRow(id: string, privilege: NewPrivilege): PrivilegeRow {
  const { roleId, effect, resource, action, selector } = privilege;
  return {
    id,
    role_id: roleId,
    effect: effect === "allow" ? "allow" : "deny",
    resource: checkName("the resource", resource),
    action: checkName("the action", action),
    selector_json:
      selector === undefined ? null : toJson("the selector", selector),
  };
}

function toPrivilege(row: PrivilegeRow): Privilege {
  const { selector_json } = row;
  return {
    id: row.id,
    roleId: row.role_id,
    // Any other value denies.
    effect: row.effect === "allow" ? "allow" : "deny",
    resource: row.resource,
    action: row.action,
    ...(selector_json === null
      ? {}
      : { selector: JSON.parse(selector_json) as unknown }),
  };
}
