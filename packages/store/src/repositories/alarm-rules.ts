import { checkName, toJson } from "../schema/limits.js";
import { sealContext } from "../secrets/sealed-columns.js";
import type { AlarmRuleRow } from "../schema/tables.js";
import type { RepositoryContext } from "./repository-context.js";

/** A condition that raises alarms, and the targets to notify. */
export interface StoredAlarmRule {
  readonly id: string;
  readonly name: string;
  /** JSON, without secrets. */
  readonly body: unknown;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface NewAlarmRule {
  readonly name: string;
  readonly body: unknown;
  /** JSON, stored encrypted, never sent to clients. */
  readonly secret?: unknown;
}

/** Alarm rules. Changes throw XoError STORE_UNAVAILABLE while the database is unreachable. */
export class AlarmRules {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  get size(): number {
    return this.#context.tables.alarmRules.size;
  }

  get(id: string): StoredAlarmRule | undefined {
    const row = this.#context.tables.alarmRules.get(id);
    return row && toRule(row);
  }

  *list(): IterableIterator<StoredAlarmRule> {
    for (const row of this.#context.tables.alarmRules.values())
      yield toRule(row);
  }

  /** @returns undefined: none. @throws XoError STORE_KEY_WRONG, SECRET_DAMAGED */
  secret(id: string): unknown {
    const { tables, vault } = this.#context;
    const sealed = tables.alarmRules.get(id)?.secret_sealed ?? null;
    return sealed === null
      ? undefined
      : (JSON.parse(vault.open(sealed, sealContext.alarmRule(id))) as unknown);
  }

  /** @throws XoError LIMIT_REACHED, VALUE_TOO_LARGE, INVALID_PARAMETERS */
  async create(rule: NewAlarmRule): Promise<StoredAlarmRule> {
    const { tables, committer, clock, createId } = this.#context;
    const now = clock.now();
    const id = createId();
    const row: AlarmRuleRow = {
      id,
      ...this.#columnsOf(id, rule),
      created_at: now,
      updated_at: now,
    };
    await committer.run((unit) => tables.alarmRules.insert(unit, row));
    return toRule(row);
  }

  /** Replaces all members. @throws XoError NO_SUCH_OBJECT, VALUE_TOO_LARGE, INVALID_PARAMETERS */
  async replace(id: string, rule: NewAlarmRule): Promise<StoredAlarmRule> {
    const { tables, committer, clock } = this.#context;
    tables.alarmRules.require(id);
    const columns = {
      ...this.#columnsOf(id, rule),
      updated_at: clock.now(),
    };
    return committer.run(async (unit) =>
      toRule(await tables.alarmRules.update(unit, id, columns)),
    );
  }

  /** Deletes the rule and its alarms. @throws XoError NO_SUCH_OBJECT */
  async delete(id: string): Promise<void> {
    const { tables, committer } = this.#context;
    tables.alarmRules.require(id);
    await committer.run((unit) => tables.alarmRules.remove(unit, id));
  }

  #columnsOf(id: string, { name, body, secret }: NewAlarmRule) {
    return {
      name: checkName("the rule's name", name),
      body_json: toJson("the rule", body),
      secret_sealed:
        secret === undefined
          ? null
          : this.#context.vault.seal(
              toJson("what is secret of the rule", secret),
              sealContext.alarmRule(id),
            ),
    };
  }
}

function toRule(row: AlarmRuleRow): StoredAlarmRule {
  return {
    id: row.id,
    name: row.name,
    body: JSON.parse(row.body_json) as unknown,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
