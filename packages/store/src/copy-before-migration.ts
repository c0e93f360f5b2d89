import { stat } from "node:fs/promises";
import type { Logger } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { Engine } from "./engines/engine.js";
import {
  currentSchema,
  type MigrationSteps,
} from "./schema/migrations/migrate.js";

interface CopyOptions {
  readonly engine: Engine;
  /** File of SQLite, or URL of PostgreSQL. */
  readonly location: string;
  readonly logger: Logger;
}

/**
 * Copies a SQLite database before it is migrated, so that the previous version can
 * be installed again. The copy has the name of its schema: `store.db.007-balancer`.
 * If it cannot be written, nothing is migrated.
 */
export function copyBeforeMigration({
  engine,
  location,
  logger,
}: CopyOptions): MigrationSteps {
  const fileOf = (schema: string) => `${location}.${schema}`;
  return {
    async beforeMigration(from, to) {
      const change = `migrating the database from ${from} to ${to}`;
      if (engine.copyTo === undefined) {
        logger.warn(
          `${change}; the way back is a backup (pg_dump) of before this start`,
        );
        return;
      }
      await engine.copyTo(fileOf(from)).catch((error: Error) => {
        throw new XoError("STORE_UNAVAILABLE", {
          reason: `not migrated, as its copy ${fileOf(from)} cannot be written: ${error.message}`,
        });
      });
      logger.info(`${change}; a copy of it is in ${fileOf(from)}`);
    },
    async findCopy() {
      if (engine.copyTo === undefined) return undefined;
      const file = fileOf(currentSchema);
      const exists = await stat(file).then(
        () => true,
        () => false,
      );
      return exists ? file : undefined;
    },
  };
}
