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
 * Copies a database before it is migrated, so that the previous version can be
 * installed again. The copy has the name of its schema version: the file
 * `store.db.007-balancer`, or the schema `copy-007-balancer` in the same PostgreSQL
 * database. If it cannot be written, nothing is migrated.
 */
export function copyBeforeMigration({
  engine,
  location,
  logger,
}: CopyOptions): Pick<MigrationSteps, "beforeMigration" | "findCopy"> {
  const isFile = engine.name === "sqlite";
  const nameOf = (version: string) =>
    isFile ? `${location}.${version}` : `copy-${version}`;
  const copyNameOf = (version: string) =>
    isFile ? nameOf(version) : `the schema "${nameOf(version)}"`;
  return {
    async beforeMigration(from, to) {
      await engine.copyTo(nameOf(from), from).catch((error: Error) => {
        throw new XoError(
          "STORE_UNAVAILABLE",
          {
            reason: `not migrated, as its copy ${copyNameOf(from)} cannot be written: ${error.message}`,
          },
          error,
        );
      });
      logger.info(
        `migrating the database from ${from} to ${to}; a copy of it is in ${copyNameOf(from)}`,
      );
    },
    async findCopy() {
      const hasCopy = await engine.hasCopy(nameOf(currentSchema));
      return hasCopy ? copyNameOf(currentSchema) : undefined;
    },
  };
}
