import { XoError } from "@xo-server/model";
import { checkFile, findLoss } from "./database-creation.js";
import type { Engine } from "./engines/engine.js";
import { openEngine } from "./engines/open-engine.js";
import { withDefaults, type StoreOptions } from "./options.js";
import { currentSchema, readSchema } from "./schema/migrations/migrate.js";

export interface StoreInspection {
  /** Name of the last migration that was applied; empty: none. */
  readonly schema: string;
  /** That of this version of the program. */
  readonly currentSchema: string;
  /** Migrated by a newer version of the program. */
  readonly isNewer: boolean;
  /** This version does not work with it: a newer one has changed what this one uses. */
  readonly isTooNew: boolean;
  /** Damage that the database reports; of SQLite only. */
  readonly problems: readonly string[];
  /** STORE_OUTDATED: the database has lost its last writes. */
  readonly loss?: XoError;
}

/**
 * Reads schema and integrity of a database. Nothing is created or migrated.
 * @throws XoError STORE_MISSING, STORE_UNAVAILABLE
 */
export async function inspectStore(
  options: StoreOptions,
): Promise<StoreInspection> {
  const settings = withDefaults({ ...options, create: "never" });
  await checkFile(settings);
  const engine = await openEngine(settings.location, settings);
  try {
    const problems = (await engine.checkIntegrity?.()) ?? [];
    const { applied, newer, isUsable } = await readSchema(
      engine.reader,
      engine,
    );
    const loss =
      applied.length > 0 ? await findLoss(engine, settings) : undefined;
    return {
      ...(loss === undefined ? {} : { loss }),
      schema: applied.toSorted().at(-1) ?? "",
      currentSchema,
      isNewer: newer !== undefined,
      isTooNew: !isUsable,
      problems,
    };
  } catch (error) {
    throw translate(error, engine);
  } finally {
    await engine.close();
  }
}

function translate(error: unknown, engine: Engine): unknown {
  const { message } = error as Error;
  return engine.classify(error) === "unavailable"
    ? new XoError("STORE_UNAVAILABLE", { reason: message })
    : error;
}
