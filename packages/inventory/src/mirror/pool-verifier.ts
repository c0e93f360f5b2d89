import type { Logger } from "@xo-server/kit";
import { XoError, type Ref } from "@xo-server/model";
import { ClassComparison, type RecordDifference } from "./class-comparison.js";
import { listingFailure } from "./listing-failure.js";
import type { PoolSource } from "./pool-source.js";
import type { Priority, Steps } from "../slicer/slicer.js";
import type { PoolStore } from "../store/pool-store.js";

export interface VerifyOptions {
  /** Only these classes; default: all mirrored classes. */
  readonly classes?: readonly string[];
  readonly signal?: AbortSignal;
  /** Called after each class; 0 to 1. */
  readonly onProgress?: (progress: number) => void;
}

/** Result of a comparison of the mirror with its pool. */
export interface Verification {
  /** Number of classes that were compared. */
  readonly classes: number;
  /** Number of records of the pool that were compared. */
  readonly records: number;
  /** What differed and was repaired, at most 1,000 of each class. */
  readonly differences: readonly RecordDifference[];
  /** Classes that could not be listed, and were not compared. */
  readonly failed: readonly {
    readonly className: string;
    readonly error: Error;
  }[];
}

/** Counters since the pool was added. */
export interface VerifierStats {
  /** Records that were compared. */
  readonly records: number;
  /** Confirmed differences. */
  readonly differences: number;
}

interface PoolVerifierOptions {
  readonly label: string;
  readonly source: PoolSource;
  readonly store: PoolStore;
  readonly run: (steps: Steps, priority?: Priority) => Promise<void>;
  readonly mirrored: () => ReadonlySet<string>;
  /** True while the mirror follows the pool. */
  readonly isWatching: () => boolean;
  /** See Reflector.catchUp. */
  readonly catchUp: () => Promise<void>;
  /** Lists the class into the store; resolves when that was tried. */
  readonly repair: (className: string) => Promise<void>;
  readonly logger: Logger;
}

/** Differences of one class that are logged one by one. */
const MAX_LOGGED = 20;

/**
 * Compares the mirror with its pool, class by class. A difference counts when
 * two listings in a row find it; then the class is listed into the store.
 */
export class PoolVerifier {
  readonly #options: PoolVerifierOptions;
  #stats: VerifierStats = { records: 0, differences: 0 };
  #last: Promise<unknown> = Promise.resolve();
  readonly #stopping = new AbortController();

  constructor(options: PoolVerifierOptions) {
    this.#options = options;
  }

  get stats(): VerifierStats {
    return this.#stats;
  }

  /**
   * Verifications of one pool run one after the other.
   * @throws XoError NOT_CONNECTED: the pool is not followed; the reason of the
   *   signal
   */
  verify(options: VerifyOptions = {}): Promise<Verification> {
    const result = this.#last.then(() => this.#verify(options));
    // The next one starts, whether this one succeeded or failed.
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Ends all verifications. */
  stop(): void {
    const { label } = this.#options;
    this.#stopping.abort(new XoError("NOT_CONNECTED", { pool: label }));
  }

  async #verify(options: VerifyOptions): Promise<Verification> {
    const { classes, onProgress } = options;
    const signal = AbortSignal.any([
      this.#stopping.signal,
      ...(options.signal === undefined ? [] : [options.signal]),
    ]);
    const due = classes ?? [...this.#options.mirrored()];
    const differences: RecordDifference[] = [];
    const failed: { className: string; error: Error }[] = [];
    let records = 0;
    for (const [index, className] of due.entries()) {
      this.#assertWatching(signal);
      try {
        const result = await this.#verifyClass(className, signal);
        records += result.records;
        differences.push(...result.differences);
      } catch (error) {
        signal.throwIfAborted();
        if (listingFailure(error) === "pool") throw error;
        failed.push({ className, error: error as Error });
      }
      onProgress?.((index + 1) / due.length);
    }
    const compared = due.length - failed.length;
    return { classes: compared, records, differences, failed };
  }

  #assertWatching(signal: AbortSignal): void {
    signal.throwIfAborted();
    if (!this.#options.isWatching())
      throw new XoError("NOT_CONNECTED", { pool: this.#options.label });
  }

  async #verifyClass(className: string, signal: AbortSignal) {
    const first = await this.#compare(className, signal);
    const { records } = first;
    if (first.found.size === 0) return { records, differences: [] };
    const second = await this.#compare(className, signal);
    const differences = [...second.found.values()].filter(
      ({ ref, kind }) => first.found.get(ref)?.kind === kind,
    );
    if (differences.length > 0) {
      this.#log(className, differences);
      await orAborted(this.#options.repair(className), signal);
    }
    this.#stats = {
      ...this.#stats,
      differences: this.#stats.differences + differences.length,
    };
    return { records, differences };
  }

  async #compare(className: string, signal: AbortSignal) {
    const { source, store, run, catchUp } = this.#options;
    const comparison = new ClassComparison(store, className);
    const compared: Promise<void>[] = [];
    try {
      await source.listRecords(className, {
        priority: "bulk",
        signal,
        onBatch: (batch) => {
          const done = run(comparison.compare(batch), "bulk");
          // Awaited below, after the listing; until then a rejection must not
          // count as unhandled.
          done.catch(() => undefined);
          compared.push(done);
        },
      });
      await Promise.all(compared);
    } finally {
      await Promise.allSettled(compared);
    }
    await orAborted(catchUp(), signal);
    const found = new Map<Ref, RecordDifference>();
    await run(comparison.finish(found), "bulk");
    const { records } = comparison;
    this.#stats = { ...this.#stats, records: this.#stats.records + records };
    return { records, found };
  }

  #log(className: string, differences: readonly RecordDifference[]): void {
    const { logger, label } = this.#options;
    for (const { ref, kind, fields } of differences.slice(0, MAX_LOGGED))
      logger.error(
        `${label}: the mirror differs from the pool: ${className} ${ref} ${kind}${fields.length > 0 ? `: ${fields.join(", ")}` : ""}`,
      );
    if (differences.length > MAX_LOGGED)
      logger.error(
        `${label}: the mirror differs from the pool: ${differences.length - MAX_LOGGED} more objects of class ${className}`,
      );
  }
}

/** @throws the reason of the signal when it is aborted first */
async function orAborted(
  promise: Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const settled = new AbortController();
  const aborted = new Promise<never>((_resolve, reject) => {
    const onAbort = () => {
      reject(signal.reason as Error);
    };
    signal.addEventListener("abort", onAbort, { signal: settled.signal });
  });
  try {
    await Promise.race([promise, aborted]);
  } finally {
    settled.abort();
  }
}
