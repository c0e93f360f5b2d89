import { Availability } from "./commit/availability.js";
import { Committer } from "./commit/committer.js";
import { exportRows } from "./configuration/export-configuration.js";
import { importRows } from "./configuration/import-configuration.js";
import { collect, openFile, sealFile } from "./configuration/sealed-file.js";
import type { Engine } from "./engines/engine.js";
import { synchronizeClock } from "./engines/database-clock.js";
import { openEngine } from "./engines/open-engine.js";
import { checkContent, checkFile, checkLoss } from "./database-creation.js";
import { createCachedTables } from "./cache/cached-tables.js";
import { CacheSynchronizer } from "./cache/cache-synchronizer.js";
import { ClusterNotices } from "./cluster-notices.js";
import { SharedRefresh } from "./cache/shared-refresh.js";
import { copyBeforeMigration } from "./copy-before-migration.js";
import { withMigrationLock } from "./migration-lock.js";
import { checkOlderServers } from "./older-servers.js";
import { migrate } from "./schema/migrations/migrate.js";
import { AuditMark } from "./repositories/audit-mark.js";
import { createRepositories } from "./repositories/create-repositories.js";
import type { RepositoryContext } from "./repositories/repository-context.js";
import {
  withDefaults,
  type StoreOptions,
  type StoreSettings,
} from "./options.js";
import { sealPlainTemplates } from "./secrets/seal-plain-templates.js";
import { KeyRotation, openVault } from "./secrets/key-rotation.js";
import { createKeySource } from "./secrets/key-source.js";
import { Seals } from "./secrets/seals.js";
import { PasswordHasher } from "./secrets/password-hasher.js";
import type { Store } from "./store.js";

/**
 * Opens the store; creates the database and the key file if they do not exist
 * and `create` permits it.
 * @throws XoError STORE_MISSING, STORE_OUTDATED, STORE_UNAVAILABLE, STORE_TOO_NEW, STORE_IN_USE,
 *   STORE_KEY_WRONG, CONFIG_INVALID
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const settings = withDefaults(options);
  await checkFile(settings);
  const engine = await openEngine(settings.location, settings);
  const availability = new Availability({ engine, ...settings });
  try {
    return await startStore(settings, engine, availability);
  } catch (error) {
    const translated = availability.translateError(error);
    availability.close();
    // The first error is the cause; one of closing would hide it.
    await engine.close().catch(() => undefined);
    throw translated;
  }
}

async function startStore(
  settings: StoreSettings,
  engine: Engine,
  availability: Availability,
): Promise<Store> {
  if (settings.sharedClock !== undefined)
    await synchronizeClock(engine, settings.sharedClock);
  const isNew = await checkContent(engine, settings);
  if (!isNew) await checkLoss(engine, settings);
  await migrateStore(engine, settings);
  const source = createKeySource(settings.key);
  const context: RepositoryContext = {
    engine,
    availability,
    committer: new Committer(engine, availability, settings.maxWaitingChanges),
    tables: createCachedTables(),
    vault: await openVault(source, engine),
    hasher: new PasswordHasher(settings.scryptCost),
    clock: settings.clock,
    createId: settings.createId,
    auditMark: AuditMark.of(settings),
    logger: settings.logger,
  };
  const { repositories, tokenUses } = createRepositories(context);
  const keyRotation = new KeyRotation({
    ...context,
    source,
    async reseal(unit) {
      await repositories.audit.reseal(unit);
      await repositories.restoreScreenshots.reseal(unit);
    },
  });
  const synchronizer = new CacheSynchronizer(
    {
      ...context,
      pollMs: settings.pollMs,
      logger: settings.logger,
      sharedClock: settings.sharedClock,
      refreshKeys: () => keyRotation.refresh(),
    },
    Object.values(context.tables),
  );
  await synchronizer.loadAll();
  await repositories.audit.prepare(isNew);
  await sealPlainTemplates(context);
  await keyRotation.finish();
  synchronizer.start();
  return toStore(context, settings.passphraseCost, {
    repositories,
    tokenUses,
    keyRotation,
    synchronizer,
  });
}

async function migrateStore(
  engine: Engine,
  settings: StoreSettings,
): Promise<void> {
  const { clock: timers, logger } = settings;
  await withMigrationLock({ engine, timers, logger }, (db) =>
    migrate(db, {
      engine,
      ...copyBeforeMigration({ engine, ...settings }),
      checkServers: (migration) =>
        checkOlderServers(db, engine, { migration, timers, logger }),
      onNewer: (newer) =>
        logger.info(
          `a newer version has migrated the database to ${newer}; this version is compatible with it`,
        ),
    }),
  );
}

type Services = ReturnType<typeof createRepositories> & {
  readonly keyRotation: KeyRotation;
  readonly synchronizer: CacheSynchronizer;
};

function toStore(
  context: RepositoryContext,
  passphraseCost: StoreSettings["passphraseCost"],
  { repositories, tokenUses, keyRotation, synchronizer }: Services,
): Store {
  const { engine, availability, committer, tables, vault, clock } = context;
  // Fails while the disk is full: the journal stays, and is read at the next start.
  const checkpoint = async () => engine.checkpoint?.().catch(() => undefined);
  const clusterNotices = new ClusterNotices(engine, clock);
  const shared = new SharedRefresh({
    refresh: () => synchronizer.synchronize(),
    clock,
  });
  return {
    ...repositories,
    seals: new Seals(vault),
    engine: engine.name,
    clock,
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
        synchronizer.onForeignChange(listener),
      ];
      return () => {
        for (const stop of stops) stop();
      };
    },
    onForeignChange: (listener) => synchronizer.onForeignChange(listener),
    onClusterNotice: (listener) => clusterNotices.onNotice(listener),
    refresh: () => synchronizer.synchronize(),
    catchUp: async () =>
      engine.name === "postgres" ? shared.run() : undefined,
    knows: (id) =>
      Object.values(tables).some((one) => one.get(id) !== undefined),
    rotateKey: () => keyRotation.rotate(),
    exportConfiguration: (passphrase) =>
      sealFile(
        exportRows(tables, vault, clock.now()),
        passphrase,
        passphraseCost,
      ),
    async importConfiguration(file, passphrase, choices) {
      const plain = await openFile(await collect(file), passphrase);
      await importRows(context, plain, choices);
    },
    checkpoint,
    async close() {
      synchronizer.stop();
      await clusterNotices.close();
      await tokenUses.close();
      await repositories.auditChanges.close();
      await committer.idle();
      await context.auditMark?.flush();
      await checkpoint();
      availability.close();
      await engine.close();
    },
  };
}
