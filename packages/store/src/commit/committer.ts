import { XoError } from "@xo-server/model";
import { sql, type Kysely } from "kysely";
import type { Engine } from "../engines/engine.js";
import { limits } from "../schema/limits.js";
import type { Tables } from "../schema/tables.js";
import type { Availability } from "./availability.js";
import { WriteUnit, type ChangeTarget } from "./write-unit.js";

/** Maximum of changes in one transaction: with more, the first one waits longer than the batch saves. */
const MAX_BATCH = 256;
/** Attempts of a transaction that conflicts with another server. */
const MAX_TRIES = 4;

/** Written to find out whether the database can be written: as much as a large change. */
const PROBE_ID = "write-probe";
const PROBE_VALUE = "x".repeat(64 * 1_024);

type WriteTask<T> = (unit: WriteUnit) => Promise<T>;

interface PendingWrite {
  readonly work: WriteTask<unknown>;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

/** Runs between two transactions. */
interface ExclusiveTask {
  readonly run: () => Promise<void>;
}

export interface CommitCounters {
  /** Committed changes, and the number of their transactions. */
  readonly changes: number;
  readonly transactions: number;
  /** Changes waiting now. */
  readonly waiting: number;
}

/**
 * Serializes all changes. Changes that arrive during a transaction share the next
 * one, so that they need only one flush to disk. A promise resolves when its
 * change is on disk and in the cache, not before.
 */
export class Committer {
  readonly #engine: Engine;
  readonly #availability: Availability;
  readonly #maxWaiting: number;
  readonly #queue: (PendingWrite | ExclusiveTask)[] = [];
  #running: Promise<void> | undefined;
  #changes = 0;
  #transactions = 0;
  #onVersionGap: (target: ChangeTarget) => Promise<void> = async () =>
    undefined;
  readonly #listeners = new Set<(table: string) => void>();

  constructor(
    engine: Engine,
    availability: Availability,
    maxWaiting: number = limits.waitingChanges,
  ) {
    this.#engine = engine;
    this.#availability = availability;
    this.#maxWaiting = maxWaiting;
  }

  get counters(): CommitCounters {
    return {
      changes: this.#changes,
      transactions: this.#transactions,
      waiting: this.#queue.length,
    };
  }

  /** @param reload reloads a cached table that another server has also changed */
  onVersionGap(reload: (target: ChangeTarget) => Promise<void>): void {
    this.#onVersionGap = reload;
  }

  /** Calls the listener with each table that a commit of this process changed, after the cache was updated. @returns a function that removes the listener */
  onCommit(listener: (table: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * @param work may run more than once: if another change in the same transaction
   *   fails, each runs again alone. So it must have no effects but queries and
   *   changes of the database.
   * @throws XoError STORE_UNAVAILABLE, QUEUE_FULL, what `work` throws
   */
  async run<T>(work: WriteTask<T>): Promise<T> {
    this.#availability.check();
    if (this.#queue.length >= this.#maxWaiting)
      throw new XoError("QUEUE_FULL", {
        what: "the store",
        size: this.#queue.length,
      });
    return new Promise<T>((resolve, reject) => {
      this.#push({ work, resolve, reject });
    });
  }

  /**
   * Runs one statement that does not wait for the transactions of others, where
   * the database has several connections. For tables without a cache.
   * @throws XoError STORE_UNAVAILABLE
   */
  runApart<T>(statement: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
    const { name, writer } = this.#engine;
    return name === "postgres"
      ? this.#availability.run(() => statement(writer))
      : this.run((unit) => statement(unit.sql));
  }

  /** Runs a task between two transactions, also while the database is unreachable. */
  async runExclusive<T>(run: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#push({ run: () => run().then(resolve, reject) });
    });
  }

  /** Writes a row: a full or read-only disk can still be read. @throws errors of the engine */
  async probe(): Promise<void> {
    const row = { id: PROBE_ID, value: PROBE_VALUE };
    await this.runExclusive(() =>
      this.#engine.writer.transaction().execute((transaction) =>
        transaction
          .insertInto("meta")
          .values(row)
          .onConflict((conflict) => conflict.column("id").doUpdateSet(row))
          .execute(),
      ),
    );
  }

  /** Resolves when the queue is empty. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  #push(entry: PendingWrite | ExclusiveTask): void {
    this.#queue.push(entry);
    this.#running ??= this.#drain();
  }

  async #drain(): Promise<void> {
    // Calls in the same turn of the event loop share the first transaction.
    await new Promise(setImmediate);
    for (;;) {
      const first = this.#queue[0];
      if (first === undefined) {
        // In the same turn as the check: a later entry starts a new loop.
        this.#running = undefined;
        return;
      }
      if ("run" in first) {
        this.#queue.shift();
        await first.run();
      } else await this.#commit(this.#takeBatch());
    }
  }

  #takeBatch(): PendingWrite[] {
    const end = this.#queue.findIndex((entry) => "run" in entry);
    const size = Math.min(MAX_BATCH, end < 0 ? this.#queue.length : end);
    return this.#queue.splice(0, size) as PendingWrite[];
  }

  async #commit(batch: readonly PendingWrite[]): Promise<void> {
    try {
      this.#availability.check();
      const results = await this.#transactBatch(batch);
      batch.forEach((job, i) => job.resolve(results[i] as never));
    } catch (error) {
      await this.#onFailure(batch, error);
    }
  }

  async #onFailure(
    batch: readonly PendingWrite[],
    error: unknown,
  ): Promise<void> {
    const translated = this.#availability.translateError(error);
    const isUnavailable = this.#availability.state === "unavailable";
    if (isUnavailable || batch.length === 1)
      for (const job of batch) job.reject(translated);
    else for (const job of batch) await this.#commit([job]);
  }

  async #transactBatch(batch: readonly PendingWrite[]): Promise<unknown[]> {
    for (let attempt = 1; ; attempt++)
      try {
        return await this.#transact(batch);
      } catch (error) {
        const again = this.#engine.classify(error) === "conflict";
        if (!again || attempt === MAX_TRIES) throw error;
      }
  }

  async #transact(batch: readonly PendingWrite[]): Promise<unknown[]> {
    const { results, unit, versions } = await this.#engine.writer
      .transaction()
      .execute(async (transaction) => {
        const unit = new WriteUnit(transaction, this.#engine);
        const results: unknown[] = [];
        for (const { work } of batch) results.push(await work(unit));
        return { results, unit, versions: await raiseVersions(unit) };
      });
    this.#transactions++;
    this.#changes += batch.length;
    await this.#applyToCache(unit, versions);
    return results;
  }

  /** Applies a committed change to the cache. A failure must not reject the change. */
  async #applyToCache(
    unit: WriteUnit,
    versions: ReadonlyMap<string, number>,
  ): Promise<void> {
    for (const [target, changes] of unit.changes) {
      const version = versions.get(target.name)!;
      if (unit.isReplaced(target) || !target.commit(changes, version))
        // The cache synchronizer retries: the version in memory stays behind.
        await this.#onVersionGap(target).catch((error: unknown) =>
          this.#availability.translateError(error),
        );
      for (const listener of this.#listeners) listener(target.name);
    }
  }
}

/** Increments the version counter of each changed table, which other servers poll. Ordered by name, so that two servers cannot deadlock. */
async function raiseVersions(unit: WriteUnit): Promise<Map<string, number>> {
  const names = [...unit.changes.keys()].map(({ name }) => name).sort();
  const versions = new Map<string, number>();
  for (const id of names) {
    const { version } = await unit.sql
      .insertInto("table_versions")
      .values({ id, version: 1 })
      .onConflict((conflict) =>
        conflict
          .column("id")
          .doUpdateSet({ version: sql<number>`table_versions.version + 1` }),
      )
      .returning("version")
      .executeTakeFirstOrThrow();
    versions.set(id, version);
  }
  return versions;
}
