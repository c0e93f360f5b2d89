import { XoError } from "@xo-server/model";
import { checkName, toJson } from "../schema/limits.js";
import { checkFence, type Fence } from "./leases.js";
import type { RepositoryContext } from "./repository-context.js";

/** JSON values by key. A key is a path, such as `ui/theme` or `cloud-config/ID`. */
export class Settings {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  /** @returns a copy of the value; undefined: no such setting */
  get(key: string): unknown {
    const row = this.#context.tables.settings.get(key);
    return row && (JSON.parse(row.value_json) as unknown);
  }

  /** Keys that start with `prefix`, with their values. */
  *list(prefix = ""): IterableIterator<readonly [string, unknown]> {
    for (const row of this.#context.tables.settings.values())
      if (row.id.startsWith(prefix))
        yield [row.id, JSON.parse(row.value_json) as unknown];
  }

  /** @throws XoError LEASE_LOST, VALUE_TOO_LARGE, INVALID_PARAMETERS, STORE_UNAVAILABLE */
  async set(key: string, value: unknown, fence?: Fence): Promise<void> {
    const { tables, committer, clock } = this.#context;
    const row = {
      id: checkName("the key of a setting", key),
      value_json: toJson(`the setting ${key}`, value),
      updated_at: clock.now(),
    };
    await committer.run(async (unit) => {
      await checkFence(unit, fence);
      await unit.sql
        .insertInto("settings")
        .values(row)
        .onConflict((conflict) => conflict.column("id").doUpdateSet(row))
        .execute();
      unit.addChange({ target: tables.settings, id: key, row });
    });
  }

  /**
   * Sets a value unless the key has one, for all servers.
   * @returns whether it was set
   * @throws XoError VALUE_TOO_LARGE, INVALID_PARAMETERS, STORE_UNAVAILABLE
   */
  async add(key: string, value: unknown): Promise<boolean> {
    const { tables, committer, clock } = this.#context;
    const row = {
      id: checkName("the key of a setting", key),
      value_json: toJson(`the setting ${key}`, value),
      updated_at: clock.now(),
    };
    return committer.run(async (unit) => {
      const added = await unit.sql
        .insertInto("settings")
        .values(row)
        .onConflict((conflict) => conflict.column("id").doNothing())
        .returning("id")
        .executeTakeFirst();
      if (added === undefined) return false;
      unit.addChange({ target: tables.settings, id: key, row });
      return true;
    });
  }

  /** @throws XoError NO_SUCH_OBJECT, LEASE_LOST, STORE_UNAVAILABLE */
  async delete(key: string, fence?: Fence): Promise<void> {
    const { tables, committer } = this.#context;
    if (tables.settings.get(key) === undefined)
      throw new XoError("NO_SUCH_OBJECT", { type: "setting", id: key });
    await committer.run(async (unit) => {
      await checkFence(unit, fence);
      await tables.settings.remove(unit, key);
    });
  }
}
