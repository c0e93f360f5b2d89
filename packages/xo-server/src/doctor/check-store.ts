import { XoError } from "@xo-server/model";
import { inspectStore, openStore, type Store } from "@xo-server/store";
import { toStoreOptions } from "../boot/start-store.js";
import type { Config } from "../config/config.js";
import { failed, ok, warning, type Result } from "./finding.js";

const DAMAGED =
  "stop the server, keep the files, restore a backup (docs/server-backup.md)";

interface CheckedStore {
  readonly results: readonly Result[];
  /** The open store, for further checks; undefined: it cannot be used, or would be migrated. */
  readonly store: Store | undefined;
}

/** Checks schema, integrity and key of the database. Nothing is created or migrated. */
export async function checkStore(config: Config): Promise<CheckedStore> {
  const options = {
    ...toStoreOptions(config),
    create: "never" as const,
    sqliteThread: false,
  };
  try {
    const found = await inspectStore(options);
    const { schema, currentSchema, problems, loss } = found;
    const { isNewer, isTooNew } = found;
    if (problems.length > 0)
      return {
        results: [
          failed(
            `the database is damaged: ${problems.slice(0, 5).join("; ")}`,
            DAMAGED,
          ),
        ],
        store: undefined,
      };
    if (isTooNew)
      return {
        results: [
          failed(
            `the database was written by a newer version of xo-server: its schema is ${schema}, this version has ${currentSchema}`,
            "install the newer version again, or restore the copy of before the upgrade (docs/upgrade.md)",
          ),
        ],
        store: undefined,
      };
    if (loss !== undefined)
      return { results: [toResult(loss)], store: undefined };
    if (schema === "")
      return {
        results: [
          warning(
            "the database is empty",
            "the first start creates the tables; after another database: start once with --new-store",
          ),
        ],
        store: undefined,
      };
    if (schema !== currentSchema && !isNewer)
      return {
        results: [
          warning(
            `the database has the schema ${schema}, this version has ${currentSchema}`,
            "the next start migrates it; make a backup before",
          ),
        ],
        store: undefined,
      };
    const store = await openStore(options);
    const users = [...store.users.list()].length;
    return {
      results: [
        ok(`${store.engine}, schema ${schema}, intact, users: ${users}`),
      ],
      store,
    };
  } catch (error) {
    return { results: [toResult(error)], store: undefined };
  }
}

const REMEDIES: Readonly<Record<string, string>> = {
  STORE_KEY_WRONG:
    "restore the key file that belongs to this database (store.keyFile, $XO_STORE_KEY, or the credential xo-server.store.key)",
  STORE_MISSING: "restore a backup (docs/server-backup.md)",
  STORE_UNAVAILABLE:
    "check store.location, that PostgreSQL runs and accepts this user, or the owner of the file",
  CONFIG_INVALID: "correct the key file; its mode must be 0600",
};

function toResult(error: unknown): Result {
  if (!(error instanceof XoError)) throw error;
  const { code, message, data } = error;
  if (/file is not a database|disk image is malformed/.test(message))
    return failed(message, DAMAGED);
  // With a trace of an earlier start the next one is refused.
  if (code === "STORE_MISSING" && data["trace"] === undefined)
    return warning(message, "before the first start that is as expected");
  return failed(message, REMEDIES[code] ?? "see the message");
}
