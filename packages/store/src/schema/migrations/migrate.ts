import { XoError } from "@xo-server/model";
import {
  DEFAULT_MIGRATION_TABLE,
  Migrator,
  sql,
  type Kysely,
  type Migration,
} from "kysely";
import { hasTable } from "../../engines/current-tables.js";
import type { Engine } from "../../engines/engine.js";
import type { Tables } from "../tables.js";
import { migrations } from "./all.js";
import type { Schema } from "./create-table.js";
import {
  isKnownRequirement,
  requirementOf,
  selectRequirement,
  writeRequirement,
} from "./schema-requirement.js";

const names = Object.keys(migrations);

/** The schema of this version: the name of its last migration. */
export const currentSchema = names.at(-1)!;

/** The schema of a database, compared with that of this version. */
interface SchemaState {
  /** Names of its migrations, in no order. */
  readonly applied: readonly string[];
  /** A migration that this version does not know; undefined: none. */
  readonly newer: string | undefined;
  /** Whether this version works with it: `newer` is undefined, or all that it does not know is additive. */
  readonly isUsable: boolean;
}

export interface MigrationSteps {
  readonly engine: Pick<Engine, "name">;
  /** Called before a migration that is not additive. Throws while servers of an older version run. */
  readonly checkServers: (migration: string) => Promise<void>;
  /** Called before the tables of an existing database are changed; both are names of migrations. */
  readonly beforeMigration: (from: string, to: string) => Promise<void>;
  /** Called instead of all others if a newer version has migrated the database, and this one works with it. */
  readonly onNewer: (newer: string) => void;
  /** Where a copy of a database of the schema `currentSchema` is, for the error message; undefined: there is none. */
  readonly findCopy: () => Promise<string | undefined>;
}

/**
 * Migrates the tables to this version. Several servers may start at once.
 * @throws XoError STORE_TOO_NEW if a newer program has migrated the database, and this one
 *   does not work with it; STORE_IN_USE: by `checkServers`
 */
export async function migrate(
  db: Kysely<Tables>,
  { engine, checkServers, beforeMigration, onNewer, findCopy }: MigrationSteps,
): Promise<void> {
  const { applied, newer, isUsable } = await readSchema(db, engine);
  if (newer !== undefined) {
    if (!isUsable) throw tooNew(newer, await findCopy());
    onNewer(newer);
    return;
  }
  // Kysely would read the columns of all tables twice more before it finds nothing to do.
  if (names.every((name) => applied.includes(name))) return;
  const from = applied.toSorted().at(-1);
  if (from !== undefined && from !== currentSchema) {
    const breaking = names.find(
      (name) => !applied.includes(name) && !migrations[name]!.isAdditive,
    );
    if (breaking !== undefined) await checkServers(breaking);
    await beforeMigration(from, currentSchema);
  }
  const { error } = await new Migrator({
    db,
    provider: { getMigrations: async () => toKysely() },
  }).migrateToLatest();
  // Kysely rethrows the error of the driver, which the caller classifies.
  if (error !== undefined) throw error as Error;
}

/** Each migration records in its transaction which programs work with its result. */
function toKysely(): Record<string, Migration> {
  return Object.fromEntries(
    Object.entries(migrations).map(([name, migration]) => [
      name,
      {
        async up(db: Schema) {
          await migration.up(db);
          await writeRequirement(db as Kysely<Tables>, requirementOf(name));
        },
      },
    ]),
  );
}

/**
 * For a program that runs.
 * @param required undefined: the database was not migrated since programs record it
 * @throws XoError STORE_TOO_NEW
 */
export function checkRequirement(required: string | undefined): void {
  if (required !== undefined && !isKnownRequirement(required))
    throw tooNew(required, undefined);
}

function tooNew(newer: string, copy: string | undefined): XoError {
  const remedy =
    copy === undefined
      ? "install the newer version again, or restore a backup from before the upgrade"
      : `install the newer version again, or restore the copy of before the upgrade, ${copy}`;
  return new XoError("STORE_TOO_NEW", {
    reason: `its schema has the migration ${newer}, this version knows them up to ${currentSchema}`,
    remedy,
  });
}

/**
 * Reads which migrations a database has, and whether this version can use it:
 * also one of a newer version that only extended the schema.
 */
export async function readSchema(
  db: Kysely<Tables>,
  engine: Pick<Engine, "name">,
): Promise<SchemaState> {
  const applied = await appliedSteps(db, engine);
  const newer = applied
    .toSorted()
    .findLast((name) => !Object.hasOwn(migrations, name));
  if (newer === undefined) return { applied, newer, isUsable: true };
  const row = await selectRequirement(db).executeTakeFirst();
  const isUsable =
    row !== undefined &&
    isKnownRequirement(row.value) &&
    names.every((name) => applied.includes(name));
  return { applied, newer, isUsable };
}

/** Names of the migrations of a database, in no order. */
async function appliedSteps(
  db: Kysely<Tables>,
  engine: Pick<Engine, "name">,
): Promise<string[]> {
  if (!(await hasTable(db, engine, DEFAULT_MIGRATION_TABLE))) return [];
  const { rows } = await sql<{
    name: string;
  }>`select name from ${sql.table(DEFAULT_MIGRATION_TABLE)}`.execute(db);
  return rows.map(({ name }) => name);
}
