import type { Logger, WallClock } from "@xo-server/kit";
import type { Availability } from "../commit/availability.js";
import type { Committer } from "../commit/committer.js";
import type { ChangeTarget } from "../commit/write-unit.js";
import { synchronizeClock } from "../engines/database-clock.js";
import type { Engine } from "../engines/engine.js";
import type { SharedClock } from "../engines/shared-clock.js";
import type { Tables } from "../schema/tables.js";
import type { Kysely } from "kysely";

/** A cached table that can be reloaded. */
interface SynchronizedTable extends ChangeTarget {
  readonly version: number;
  load(db: Kysely<Tables>): Promise<void>;
}

interface CacheSynchronizerOptions {
  readonly engine: Engine;
  readonly committer: Committer;
  readonly availability: Availability;
  readonly clock: WallClock;
  /** Is set by the clock of the database at each read; absent: none. */
  readonly sharedClock?: SharedClock | undefined;
  /** Interval between two reads of the version counters, in ms. */
  readonly pollMs: number;
  readonly logger: Logger;
  /** Called before rows of another process are read: that process may have rotated the key. */
  readonly refreshKeys: () => Promise<void>;
}

/** Time in which the database must answer the periodic query, in ms. */
const RESPONSE_MS = 5_000;

/**
 * Reloads cached tables that other processes have changed: other servers on the
 * same PostgreSQL, the command line on the same file. Every change increments the
 * version counter of its table; the counters are read every `pollMs`. (NOTIFY
 * would be faster, but it serializes commits.)
 */
export class CacheSynchronizer {
  readonly #options: CacheSynchronizerOptions;
  readonly #tables: ReadonlyMap<string, SynchronizedTable>;
  readonly #listeners = new Set<(table: string) => void>();
  #timer: unknown;
  #closed = false;

  constructor(
    options: CacheSynchronizerOptions,
    tables: readonly SynchronizedTable[],
  ) {
    this.#options = options;
    this.#tables = new Map(tables.map((table) => [table.name, table]));
    options.committer.onVersionGap((target) => this.#reload(target.name));
    options.availability.onRecovery(async () => {
      await options.committer.probe();
      await this.loadAll();
    });
  }

  /** Calls the listener with the name of each table that another process changed. */
  onForeignChange(listener: (table: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async loadAll(): Promise<void> {
    await this.#options.committer.runExclusive(async () => {
      await this.#refreshKeys();
      for (const table of this.#tables.values())
        await table.load(this.#options.engine.reader);
    });
    for (const name of this.#tables.keys()) this.#notify(name);
  }

  start(): void {
    const { clock, pollMs } = this.#options;
    if (this.#closed) return;
    this.#timer = clock.setTimeout(() => {
      void this.synchronize()
        .catch((error: unknown) =>
          this.#warn("the cache may be outdated", error),
        )
        .then(() => this.start());
    }, pollMs);
  }

  /** Reloads changed tables now. @throws XoError STORE_UNAVAILABLE */
  async synchronize(): Promise<void> {
    const { engine, availability, committer, sharedClock } = this.#options;
    const versions = await availability.run(() =>
      this.#bounded(async () => {
        if (sharedClock !== undefined)
          await synchronizeClock(engine, sharedClock);
        return engine.reader.selectFrom("table_versions").selectAll().execute();
      }),
    );
    for (const { id, version } of versions) {
      if (!this.#isBehind(id, version)) continue;
      await committer.runExclusive(async () => {
        // A commit of this process may have updated the table in the meantime.
        if (this.#isBehind(id, version))
          await availability.run(() => this.#reload(id));
      });
    }
  }

  stop(): void {
    this.#closed = true;
    this.#options.clock.clearTimeout(this.#timer);
  }

  /** Without a response all queries fail, as their connections are closed: a network that drops packets reports nothing. */
  async #bounded<T>(query: () => Promise<T>): Promise<T> {
    const { engine, clock } = this.#options;
    const timer = clock.setTimeout(() => engine.disconnect?.(), RESPONSE_MS);
    try {
      return await query();
    } finally {
      clock.clearTimeout(timer);
    }
  }

  #isBehind(name: string, version: number): boolean {
    const table = this.#tables.get(name);
    return table !== undefined && table.version < version;
  }

  async #reload(name: string): Promise<void> {
    await this.#refreshKeys();
    await this.#tables.get(name)?.load(this.#options.engine.reader);
    this.#notify(name);
  }

  /** If the key file cannot be read the current keys stay in use: most rows are not encrypted. */
  async #refreshKeys(): Promise<void> {
    try {
      await this.#options.refreshKeys();
    } catch (error) {
      this.#warn("the key cannot be reloaded", error);
    }
  }

  /** Availability logs an unreachable database itself. */
  #warn(message: string, error: unknown): void {
    const { availability, logger } = this.#options;
    if (availability.state === "unavailable" || this.#closed) return;
    logger.warn(message, {
      reason: error instanceof Error ? error.message : "unknown",
    });
  }

  #notify(name: string): void {
    for (const listener of this.#listeners) listener(name);
  }
}
