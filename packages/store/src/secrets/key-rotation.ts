import { XoError } from "@xo-server/model";
import type { Committer } from "../commit/committer.js";
import type { WriteUnit } from "../commit/write-unit.js";
import type { Engine } from "../engines/engine.js";
import type { Value } from "../schema/tables.js";
import type { CachedTable } from "../cache/cached-table.js";
import type { CachedTables } from "../cache/cached-tables.js";
import { Key } from "./key.js";
import type { KeySource } from "./key-source.js";
import {
  sealContext,
  sealedColumns,
  type SealedColumn,
} from "./sealed-columns.js";
import { Vault } from "./vault.js";

const CHECK_ID = "key-check";
const CHECK_TEXT = "xo-server";

/**
 * Loads the keys and checks that they belong to this database, which contains a
 * known text encrypted at its first start.
 * @throws XoError STORE_KEY_WRONG, CONFIG_INVALID
 */
export async function openVault(
  source: KeySource,
  engine: Engine,
): Promise<Vault> {
  const known = await readKeyCheck(engine);
  const keys = await source.load(known === undefined);
  const vault = new Vault(source.description, keys);
  if (known === undefined)
    await engine.writer
      .insertInto("meta")
      .values({ id: CHECK_ID, value: sealCheck(vault) })
      .onConflict((conflict) => conflict.column("id").doNothing())
      .execute();
  vault.open((await readKeyCheck(engine)) ?? "", sealContext.keyCheck);
  return vault;
}

interface KeyRotationOptions {
  readonly source: KeySource;
  readonly vault: Vault;
  readonly committer: Committer;
  readonly tables: CachedTables;
  /** Computes again other data that depends on the key. */
  readonly reseal: (unit: WriteUnit) => Promise<void>;
}

/** Rotates the key. An interrupted rotation is finished at the next start: both keys stay in the file until then. */
export class KeyRotation {
  readonly #options: KeyRotationOptions;

  constructor(options: KeyRotationOptions) {
    this.#options = options;
  }

  /** Creates a new key and encrypts all secrets with it. @throws XoError UNSUPPORTED for a key of the environment */
  async rotate(): Promise<void> {
    const { source, vault } = this.#options;
    const keys = [Key.random(), ...vault.keys];
    await source.save(keys);
    vault.use(keys);
    await this.finish();
  }

  /** Encrypts everything with the first key, then removes the other keys. */
  async finish(): Promise<void> {
    const { source, vault, committer } = this.#options;
    if (vault.keys.length === 1) return;
    await committer.run((unit) => this.#encryptAll(unit));
    const keys = vault.keys.slice(0, 1);
    try {
      await source.save(keys);
      vault.use(keys);
    } catch (error) {
      // The key is in the environment, where the administrator removes the old one.
      if (!(error instanceof XoError && error.code === "UNSUPPORTED"))
        throw error;
    }
  }

  /** Reloads the key file: another process may have rotated the key. */
  async refresh(): Promise<void> {
    const { source, vault } = this.#options;
    vault.use(await source.load(false));
  }

  async #encryptAll(unit: WriteUnit): Promise<void> {
    const { vault, tables } = this.#options;
    for (const table of Object.values(tables)) {
      const sealed = sealedColumns.get(table.name);
      if (sealed !== undefined)
        // Any table with a sealed column; the type is that of one of them.
        await this.#encryptColumn(
          unit,
          table as unknown as CachedTable<"jobs">,
          sealed,
        );
    }
    await unit.sql
      .updateTable("meta")
      .set({ value: sealCheck(vault) })
      .where("id", "=", CHECK_ID)
      .execute();
    await this.#options.reseal(unit);
    // Other servers reload their keys when the version of any table changes.
    unit.touch(tables.servers);
  }

  async #encryptColumn(
    unit: WriteUnit,
    table: CachedTable<"jobs">,
    { column, contextOf }: SealedColumn,
  ): Promise<void> {
    const { vault } = this.#options;
    const rows = await unit.sql.selectFrom(table.name).selectAll().execute();
    for (const row of rows) {
      const sealed = (row as unknown as Record<string, Value>)[column];
      if (typeof sealed !== "string") continue;
      const context = contextOf(row.id);
      const text = vault.open(sealed, context);
      await table.update(unit, row.id, { [column]: vault.seal(text, context) });
    }
  }
}

/** The known text, encrypted. @returns undefined: the first start is not completed */
export async function readKeyCheck(
  engine: Engine,
): Promise<string | undefined> {
  const row = await engine.reader
    .selectFrom("meta")
    .select("value")
    .where("id", "=", CHECK_ID)
    .executeTakeFirst();
  return row?.value;
}

function sealCheck(vault: Vault): string {
  return vault.seal(CHECK_TEXT, sealContext.keyCheck);
}
