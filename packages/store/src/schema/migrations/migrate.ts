import { XoError } from "@xo-server/model";
import {
  DEFAULT_MIGRATION_TABLE,
  Migrator,
  sql,
  type Kysely,
  type Migration,
} from "kysely";
import type { Tables } from "../tables.js";
import { first } from "./001-first.js";
import { setsAndPlugins } from "./002-sets-and-plugins.js";
import { schedules } from "./003-schedules.js";
import { alarms } from "./004-alarms.js";
import { taskSteps } from "./005-task-steps.js";
import { placementRules } from "./006-placement-rules.js";
import { balancer } from "./007-balancer.js";
import { auditPending } from "./008-audit-pending.js";
import { backupRepositories } from "./009-backup-repositories.js";
import { restorePictures } from "./010-restore-pictures.js";
import { auditForwards } from "./011-audit-forwards.js";
import { cluster } from "./012-cluster.js";
import { oneTimeSecrets } from "./013-one-time-secrets.js";
import { leasesReplaceHeartbeats } from "./014-leases-replace-heartbeats.js";
import { leavingServers } from "./015-leaving-servers.js";
import { signInAttempts } from "./016-sign-in-attempts.js";

/** All migrations in order. A released migration is never changed. */
const migrations: Readonly<Record<string, Migration>> = {
  "001-first": first,
  "002-sets-and-plugins": setsAndPlugins,
  "003-schedules": schedules,
  "004-alarms": alarms,
  "005-task-steps": taskSteps,
  "006-placement-rules": placementRules,
  "007-balancer": balancer,
  "008-audit-pending": auditPending,
  "009-backup-repositories": backupRepositories,
  "010-restore-pictures": restorePictures,
  "011-audit-forwards": auditForwards,
  "012-cluster": cluster,
  "013-one-time-secrets": oneTimeSecrets,
  "014-leases-replace-heartbeats": leasesReplaceHeartbeats,
  "015-leaving-servers": leavingServers,
  "016-sign-in-attempts": signInAttempts,
};

const names = Object.keys(migrations);

/** The schema of this version: the name of its last migration. */
export const currentSchema = names.at(-1)!;

export interface MigrationSteps {
  /** Called before the tables of an existing database are changed; both are names of migrations. */
  readonly beforeMigration: (from: string, to: string) => Promise<void>;
  /** Where a copy of a database of the schema `currentSchema` is, for the error message; undefined: there is none. */
  readonly findCopy: () => Promise<string | undefined>;
}

/**
 * Migrates the tables to this version. Several servers may start at once.
 * @throws XoError STORE_TOO_NEW if a newer program has migrated the database
 */
export async function migrate(
  db: Kysely<Tables>,
  { beforeMigration, findCopy }: MigrationSteps,
): Promise<void> {
  const applied = await appliedSteps(db);
  const newer = applied.find((name) => !isKnownStep(name));
  if (newer !== undefined) throw tooNew(newer, await findCopy());
  const from = applied.toSorted().at(-1);
  if (from !== undefined && from !== currentSchema)
    await beforeMigration(from, currentSchema);
  const { error } = await new Migrator({
    db,
    provider: { getMigrations: async () => ({ ...migrations }) },
  }).migrateToLatest();
  // Kysely rethrows the error of the driver, which the caller classifies.
  if (error !== undefined) throw error as Error;
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

export function isKnownStep(name: string): boolean {
  return Object.hasOwn(migrations, name);
}

/** Names of the migrations of a database, in no order. */
export async function appliedSteps(db: Kysely<Tables>): Promise<string[]> {
  const tables = await db.introspection.getTables({
    withInternalKyselyTables: true,
  });
  if (!tables.some(({ name }) => name === DEFAULT_MIGRATION_TABLE)) return [];
  const { rows } = await sql<{
    name: string;
  }>`select name from ${sql.table(DEFAULT_MIGRATION_TABLE)}`.execute(db);
  return rows.map(({ name }) => name);
}
