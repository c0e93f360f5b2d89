import type { Clock } from "../clock.js";
import type { Availability } from "../commit/availability.js";
import type { Committer } from "../commit/committer.js";
import type { ChangeTarget } from "../commit/write-unit.js";
import type { Engine } from "../engines/engine.js";
import type { Logger } from "../logger.js";
import type { Tables } from "../schema/tables.js";
import type { Kysely } from "kysely";

/** A table in memory, as far as following other servers goes. */
export interface SynchronizedTable extends ChangeTarget {
  readonly version: number;
  load(db: Kysely<Tables>): Promise<void>;
}

interface CacheSynchronizerOptions {
  readonly engine: Engine;
  readonly committer: Committer;
  readonly availability: Availability;
  readonly clock: Clock;
  /** Between two looks at the counters. */
  readonly pollMs: number;
  readonly logger: Logger;
  /** Before rows of another process are read: it may have changed the key as well. */
  readonly refreshKeys: () => Promise<void>;
}

/**
 * Keeps memory in step with what other processes write: other servers on the
 * same PostgreSQL, the command line on the same file. Each table has a counter
 * that every change raises; they are looked at every `pollMs`. (NOTIFY would
 * tell sooner, but it makes commits wait for each other.)
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
    options.availability.onRecovery(() => this.loadAll());
  }

  /** Hears of tables that another process changed. */
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
        .catch((error: unknown) => this.#warn("memory is behind", error))
        .then(() => this.start());
    }, pollMs);
  }

  /** Brings memory in step now. @throws XoError STORE_UNAVAILABLE */
  async synchronize(): Promise<void> {
    const { engine, availability, committer } = this.#options;
    const versions = await availability.run(() =>
      engine.reader.selectFrom("table_versions").selectAll().execute(),
    );
    for (const { id, version } of versions) {
      if (!this.#isBehind(id, version)) continue;
      await committer.runExclusive(async () => {
        // A commit of our own may have brought it in step meanwhile.
        if (this.#isBehind(id, version))
          await availability.run(() => this.#reload(id));
      });
    }
  }

  stop(): void {
    this.#closed = true;
    this.#options.clock.clearTimeout(this.#timer);
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

  /** The keys in use stay when the file is gone: most rows have nothing to do with them. */
  async #refreshKeys(): Promise<void> {
    try {
      await this.#options.refreshKeys();
    } catch (error) {
      this.#warn("the key cannot be read anew", error);
    }
  }

  /** Availability says itself when the database is gone. */
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
