import { Availability } from "./commit/availability.js";
import { Committer } from "./commit/committer.js";
import { exportRows } from "./configuration/export-configuration.js";
import { importRows } from "./configuration/import-configuration.js";
import { collect, openFile, sealFile } from "./configuration/sealed-file.js";
import type { Engine } from "./engines/engine.js";
import { openPostgresEngine } from "./engines/postgres-engine.js";
import { openSqliteEngine } from "./engines/sqlite-engine.js";
import { createCachedTables } from "./memory/cached-tables.js";
import { Follower } from "./memory/follower.js";
import { migrate } from "./migrations/migrate.js";
import { createNouns } from "./nouns/create-nouns.js";
import type { Parts } from "./nouns/parts.js";
import {
  withDefaults,
  type StoreOptions,
  type StoreSettings,
} from "./options.js";
import { KeyKeeper, openVault } from "./secrets/keeper.js";
import { createKeySource } from "./secrets/key-source.js";
import { PasswordHasher } from "./secrets/password-hasher.js";
import type { Store } from "./store.js";

/**
 * Opens the store; makes database and key file where there are none.
 * @throws XoError STORE_UNAVAILABLE, STORE_TOO_NEW, STORE_KEY_WRONG, CONFIG_INVALID
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const settings = withDefaults(options);
  const engine = await openEngine(settings.location);
  const availability = new Availability({ engine, ...settings });
  try {
    return await start(settings, engine, availability);
  } catch (error) {
    const told = availability.notice(error);
    availability.close();
    await engine.close().catch(() => undefined);
    throw told;
  }
}

function openEngine(location: string): Promise<Engine> {
  return /^postgres(ql)?:\/\//.test(location)
    ? openPostgresEngine(location)
    : openSqliteEngine(location);
}

async function start(
  settings: StoreSettings,
  engine: Engine,
  availability: Availability,
): Promise<Store> {
  await migrate(engine.writer);
  const source = createKeySource(settings.key);
  const vault = await openVault(source, engine);
  const committer = new Committer(engine, availability);
  const tables = createCachedTables();
  const hasher = new PasswordHasher(settings.scryptCost);
  const { clock, createId } = settings;
  const parts: Parts = {
    engine,
    availability,
    committer,
    tables,
    vault,
    hasher,
    clock,
    createId,
  };
  const { nouns, tokenUses } = createNouns(parts);
  const keeper = new KeyKeeper({
    source,
    vault,
    committer,
    tables,
    reseal: (unit) => nouns.audit.reseal(unit),
  });
  const follower = new Follower(
    {
      engine,
      committer,
      availability,
      clock,
      pollMs: settings.pollMs,
      logger: settings.logger,
      refreshKeys: () => keeper.refresh(),
    },
    Object.values(tables),
  );
  await follower.loadAll();
  await nouns.audit.prepare();
  await keeper.finish();
  follower.start();

  return {
    ...nouns,
    engine: engine.name,
    get state() {
      return availability.state;
    },
    get counters() {
      return committer.counters;
    },
    onState: (listener) => availability.onState(listener),
    onChange(listener) {
      const stops = [
        committer.onCommit(listener),
        follower.onForeignChange(listener),
      ];
      return () => {
        for (const stop of stops) stop();
      };
    },
    onForeignChange: (listener) => follower.onForeignChange(listener),
    refresh: () => follower.look(),
    rotateKey: () => keeper.rotate(),
    exportConfiguration: (passphrase) =>
      sealFile(exportRows(tables, vault, clock.now()), passphrase),
    importConfiguration: async (file, passphrase) =>
      importRows(parts, await openFile(await collect(file), passphrase)),
    async close() {
      follower.stop();
      await tokenUses.close();
      await committer.idle();
      availability.close();
      await engine.close();
    },
  };
}
