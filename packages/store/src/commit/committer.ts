import { XoError } from "@xo-server/model";
import { sql } from "kysely";
import type { Engine } from "../engines/engine.js";
import { limits } from "../schema/limits.js";
import type { Availability } from "./availability.js";
import { WriteUnit, type ChangeTarget } from "./write-unit.js";

/** Changes that share a transaction at most: beyond, waiting for the last one costs the first one more than it saves. */
const MAX_BATCH = 256;
/** Tries of a change that another server's got in the way of. */
const MAX_TRIES = 4;

export type WriteTask<T> = (unit: WriteUnit) => Promise<T>;

interface PendingWrite {
  readonly work: WriteTask<unknown>;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

/** What runs in the lane between two transactions. */
interface ExclusiveTask {
  readonly run: () => Promise<void>;
}

export interface CommitCounters {
  /** Changes that were committed, and the transactions that it took. */
  readonly changes: number;
  readonly transactions: number;
  /** Changes that wait now. */
  readonly waiting: number;
}

/**
 * The one lane of all changes. Those that arrive while a transaction is under
 * way share the next one, so that the disk is waited for once for all of them.
 * A promise resolves when its change is on the disk and in memory, not before.
 */
export class Committer {
  readonly #engine: Engine;
  readonly #availability: Availability;
  readonly #queue: (PendingWrite | ExclusiveTask)[] = [];
  #running: Promise<void> | undefined;
  #changes = 0;
  #transactions = 0;
  #onVersionGap: (target: ChangeTarget) => Promise<void> = async () =>
    undefined;
  readonly #listeners = new Set<(table: string) => void>();

  constructor(engine: Engine, availability: Availability) {
    this.#engine = engine;
    this.#availability = availability;
  }

  get counters(): CommitCounters {
    return {
      changes: this.#changes,
      transactions: this.#transactions,
      waiting: this.#queue.length,
    };
  }

  /** @param reload reads a table into memory anew: another server changed it as well */
  onVersionGap(reload: (target: ChangeTarget) => Promise<void>): void {
    this.#onVersionGap = reload;
  }

  /** Hears of each table that a commit of this process changed, once memory has it; returns how to stop listening. */
  onCommit(listener: (table: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * @param work may run more than once: a failed neighbour in the same
   *   transaction undoes it, and it is done again alone. So it must do nothing
   *   but ask and change the database.
   * @throws XoError STORE_UNAVAILABLE, QUEUE_FULL, what `work` throws
   */
  async run<T>(work: WriteTask<T>): Promise<T> {
    this.#availability.check();
    if (this.#queue.length >= limits.waitingChanges)
      throw new XoError("QUEUE_FULL", {
        what: "the store",
        size: this.#queue.length,
      });
    return new Promise<T>((resolve, reject) => {
      this.#push({ work, resolve, reject });
    });
  }

  /** Runs between two transactions, also while the database counts as gone. */
  async runExclusive<T>(run: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#push({ run: () => run().then(resolve, reject) });
    });
  }

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  #push(entry: PendingWrite | ExclusiveTask): void {
    this.#queue.push(entry);
    this.#running ??= this.#drain();
  }

  async #drain(): Promise<void> {
    // Whoever calls in the same turn of the event loop shares the first transaction.
    await new Promise(setImmediate);
    for (;;) {
      const first = this.#queue[0];
      if (first === undefined) {
        // In the same turn as the look: an entry that comes later starts a new run.
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
    const told = this.#availability.translateError(error);
    const gone = this.#availability.state === "unavailable";
    if (gone || batch.length === 1) for (const job of batch) job.reject(told);
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

  /** It is committed: whatever fails from here on must not look as if it were not. */
  async #applyToCache(
    unit: WriteUnit,
    versions: ReadonlyMap<string, number>,
  ): Promise<void> {
    for (const [target, changes] of unit.changes) {
      const version = versions.get(target.name)!;
      if (unit.isReplaced(target) || !target.commit(changes, version))
        // The follower tries again: the table's counter in memory stays behind.
        await this.#onVersionGap(target).catch((error: unknown) =>
          this.#availability.translateError(error),
        );
      for (const listener of this.#listeners) listener(target.name);
    }
  }
}

/** Counts up the counter of each table that changed, which is how other servers learn of it. By name, so that two servers never wait for each other. */
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
