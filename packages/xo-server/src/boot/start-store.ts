import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  isPostgres,
  openStore,
  type Store,
  type StoreOptions,
} from "@xo-server/store";
import type { Config } from "../config/config.js";
import type { ServerOptions } from "./server-options.js";
import type { StopStack } from "../lifecycle/stop-stack.js";

/** Passwords of a demo or a test are deleted with its database, so a cheap hash is sufficient. */
const TEMPORARY_COST = { ln: 10, r: 8, p: 1 };

/**
 * Opens the database. A demo without a data directory, or a test without a
 * location, gets a temporary one.
 * @throws XoError STORE_MISSING, STORE_OUTDATED, STORE_UNAVAILABLE, STORE_TOO_NEW,
 * STORE_IN_USE, STORE_KEY_WRONG, CONFIG_INVALID
 */
export async function startStore(
  options: ServerOptions,
  stops: StopStack,
): Promise<Store> {
  const { config, loggers, clock, env } = options;
  const { demo, demoDataDir } = options;
  const location =
    demo !== undefined && demoDataDir !== undefined
      ? toDemoOptions(demoDataDir)
      : isTemporary(options)
        ? {
            ...(await makeTemporary(stops)),
            // Tests start hundreds of servers, for which a thread costs more than
            // all their queries.
            sqliteThread: demo !== undefined,
          }
        : toStoreOptions(config, env);
  const { isNewStore = false } = options;
  const store = await openStore({
    ...location,
    ...options.storeCosts,
    create: isNewStore ? "always" : "first-start",
    ...(clock === undefined ? {} : { clock }),
    logger: loggers.named("xo:store"),
  });
  stops.push("store", () => store.close());
  return store;
}

/** Location and key from the config and the environment. */
export function toStoreOptions(
  {
    dataDir,
    inventory,
    store,
  }: Pick<Config, "dataDir" | "inventory" | "store">,
  env: Readonly<Record<string, string | undefined>> = process.env,
): StoreOptions {
  const location =
    env["XO_STORE"] || store.location || join(dataDir, "store.db");
  return {
    location,
    key: toKeyOptions({ dataDir, keyFile: store.keyFile }, env),
    traces: [inventory.keyFile || join(dataDir, "inventory.key")],
    auditMark: join(
      isPostgres(location) ? dataDir : dirname(location),
      "audit.mark",
    ),
    pollMs: store.pollMs,
  };
}

/** Name of the credential of systemd (`LoadCredential=`) with the key. */
const KEY_CREDENTIAL = "xo-server.store.key";

function toKeyOptions(
  { dataDir, keyFile }: { readonly dataDir: string; readonly keyFile: string },
  env: Readonly<Record<string, string | undefined>>,
): StoreOptions["key"] {
  const text = env["XO_STORE_KEY"];
  if (text !== undefined && text !== "") return { text };
  const folder = env["CREDENTIALS_DIRECTORY"];
  if (folder !== undefined && folder !== "") {
    const credential = keyFile || join(folder, KEY_CREDENTIAL);
    if (dirname(credential) === folder && existsSync(credential))
      return { credential };
  }
  return { file: keyFile || join(dataDir, "store.key") };
}

/**
 * A demo never opens the database of a real server, because its anonymous clients
 * may read all objects.
 */
function toDemoOptions(dataDir: string): StoreOptions {
  return {
    location: join(dataDir, "demo.db"),
    key: { file: join(dataDir, "demo.key") },
    auditMark: join(dataDir, "demo-audit.mark"),
  };
}

function isTemporary({ config, demo, createPool }: ServerOptions): boolean {
  return (
    demo !== undefined ||
    (createPool !== undefined && config.store.location === "")
  );
}

async function makeTemporary(stops: StopStack): Promise<StoreOptions> {
  const folder = await mkdtemp(join(tmpdir(), "xo-server-"));
  stops.push("folder of the store", () =>
    rm(folder, { recursive: true, force: true }),
  );
  return {
    location: join(folder, "store.db"),
    key: { file: join(folder, "store.key") },
    scryptCost: TEMPORARY_COST,
    durable: false,
  };
}
