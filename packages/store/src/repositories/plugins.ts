import { toJson } from "../schema/limits.js";
import { sealContext } from "../secrets/sealed-columns.js";
import type { PluginRow } from "../schema/tables.js";
import type { RepositoryContext } from "./repository-context.js";

/** A stored plugin, without its configuration, which may contain secrets. */
export interface StoredPlugin {
  readonly id: string;
  readonly autoload: boolean;
  readonly isConfigured: boolean;
}

/** Plugins. Changes throw XoError STORE_UNAVAILABLE while the database is unreachable. */
export class Plugins {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  get(id: string): StoredPlugin | undefined {
    const row = this.#context.tables.plugins.get(id);
    return (
      row && {
        id,
        autoload: row.autoload === 1,
        isConfigured: row.configuration_sealed !== null,
      }
    );
  }

  /** @returns undefined: none, @throws XoError STORE_KEY_WRONG, SECRET_DAMAGED */
  configuration(id: string): unknown {
    const { tables, vault } = this.#context;
    const sealed = tables.plugins.get(id)?.configuration_sealed ?? null;
    return sealed === null
      ? undefined
      : (JSON.parse(vault.open(sealed, sealContext.plugin(id))) as unknown);
  }

  /** @param patch `configuration: undefined` removes the configuration. @throws XoError VALUE_TOO_LARGE */
  async set(
    id: string,
    patch: { readonly autoload?: boolean; readonly configuration?: unknown },
  ): Promise<void> {
    const { tables, committer, clock } = this.#context;
    await committer.run(async (unit) => {
      const old = await unit.sql
        .selectFrom("plugins")
        .selectAll()
        .where("id", "=", id)
        .executeTakeFirst();
      const row: PluginRow = {
        id,
        autoload: Number(patch.autoload ?? old?.autoload === 1),
        configuration_sealed: Object.hasOwn(patch, "configuration")
          ? this.#seal(id, patch.configuration)
          : (old?.configuration_sealed ?? null),
        updated_at: clock.now(),
      };
      await unit.sql
        .insertInto("plugins")
        .values(row)
        .onConflict((conflict) => conflict.column("id").doUpdateSet(row))
        .execute();
      unit.addChange({ target: tables.plugins, id, row });
    });
  }

  #seal(id: string, configuration: unknown): string | null {
    if (configuration === undefined) return null;
    const text = toJson("the configuration of a plugin", configuration);
    return this.#context.vault.seal(text, sealContext.plugin(id));
  }
}
