import { toJson } from "../limits.js";
import { sealedPlace } from "../secrets/sealed-columns.js";
import type { PluginRow } from "../tables.js";
import type { Parts } from "./parts.js";

/** What is remembered of a plugin. Its configuration is asked for separately: it may have secrets. */
export interface StoredPlugin {
  readonly id: string;
  readonly autoload: boolean;
  readonly isConfigured: boolean;
}

/** Plugins. Changes throw XoError STORE_UNAVAILABLE while the database is gone. */
export class Plugins {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get(id: string): StoredPlugin | undefined {
    const row = this.#parts.tables.plugins.get(id);
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
    const { tables, vault } = this.#parts;
    const sealed = tables.plugins.get(id)?.configuration_sealed ?? null;
    return sealed === null
      ? undefined
      : (JSON.parse(vault.open(sealed, sealedPlace.plugin(id))) as unknown);
  }

  /** @param patch configuration: undefined takes it away, @throws XoError VALUE_TOO_LARGE */
  async set(
    id: string,
    patch: { readonly autoload?: boolean; readonly configuration?: unknown },
  ): Promise<void> {
    const { tables, committer, clock } = this.#parts;
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
      unit.changed({ target: tables.plugins, id, row });
    });
  }

  #seal(id: string, configuration: unknown): string | null {
    if (configuration === undefined) return null;
    const text = toJson("the configuration of a plugin", configuration);
    return this.#parts.vault.seal(text, sealedPlace.plugin(id));
  }
}
