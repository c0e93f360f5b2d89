import type { WallClock } from "@xo-server/kit";
import { Semaphore, type Inventory } from "@xo-server/inventory";
import type { Logger } from "../log/logger.js";
import { pause } from "../tasks/pause.js";
import type { StatsHost } from "./fetch-measurements.js";
import { archives } from "./granularity.js";
import type { HostStats } from "./host-stats.js";
import type { NowValues } from "./now-values.js";
import type { StatsInterval } from "./stats-interval.js";
import type { TrackedObject } from "./series-store.js";

interface FollowerOptions {
  readonly hosts: HostStats;
  readonly now: NowValues;
  readonly inventory: Pick<Inventory, "runInSlices">;
  /**
   * Hosts that can be polled now; absent: no host is followed, but old data is
   * evicted.
   */
  readonly live?: () => Promise<readonly StatsHost[]>;
  readonly pace: Pick<StatsInterval, "intervalMs">;
  readonly clock: WallClock;
  readonly logger: Pick<Logger, "debug" | "error">;
  /** Returns a number in [0, 1). */
  readonly random?: () => number;
}

export interface FollowerFigures {
  /** Number of hosts in the current round. */
  readonly hosts: number;
  /** Number of hosts whose last request failed. */
  readonly failing: number;
  readonly answers: number;
  readonly failures: number;
  /**
   * Mean delay from a measurement to its publication in the last round, in s,
   * by the host's clock.
   */
  readonly lagSeconds: number;
}

/**
 * Maximum number of concurrent requests to hosts that answered the last time.
 */
const MAX_CONCURRENT = 32;
/** Maximum number of concurrent requests to hosts that failed, so that they do not delay others. */
const MAX_CONCURRENT_FAILING = 8;
/**
 * Time after which a request no longer counts as concurrent, in ms; its response is
 * still awaited.
 */
const SLOW_MS = 2_000;
const SHORTEST_TICK_MS = 20;
/** Interval of the check while there is no host, and of the pace during long pauses, in ms. */
const CHECK_MS = 1_000;
const LONGEST_BACKOFF_MS = 300_000;
/** Retention in rows of the finest archive. */
const { step: STEP, points } = archives.seconds;
const FORGET_MS = points * STEP * 1000;
/** Number of rows that may be missing at the end before a value is removed. */
const MAX_MISSING = 2;

interface Health {
  failures: number;
  /** Earliest next request, by the local clock. */
  retryAt: number;
  isRequested: boolean;
}

/**
 * Requests new metrics of every live host once per interval, evenly distributed
 * over the interval. At the end of each round the latest metrics are published.
 */
export class Follower {
  readonly #options: FollowerOptions;
  readonly #health = new Map<string, Health>();
  readonly #turns = new Semaphore(MAX_CONCURRENT);
  readonly #doubtful = new Semaphore(MAX_CONCURRENT_FAILING);
  readonly #stopped = new AbortController();
  #hosts = 0;
  #answers = 0;
  #failures = 0;
  #lagSeconds = 0;
  /** Interval of the previous round. */
  #intervalMs = 0;
  #running: Promise<void> | undefined;

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Resolves when the current round has ended. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  get figures(): FollowerFigures {
    let failing = 0;
    for (const { failures } of this.#health.values())
      if (failures > 0) failing++;
    return {
      hosts: this.#hosts,
      failing,
      answers: this.#answers,
      failures: this.#failures,
      lagSeconds: this.#lagSeconds,
    };
  }

  async #run(): Promise<void> {
    const { clock, live, pace, logger } = this.#options;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const startedAt = clock.now();
      const { intervalMs } = pace;
      await this.#round(startedAt, intervalMs).catch((error: unknown) => {
        logger.error("statistics could not be fetched", { error });
      });
      const isIdle = live !== undefined && this.#hosts === 0;
      const longest = isIdle ? Math.min(CHECK_MS, intervalMs) : intervalMs;
      await pause(clock, SHORTEST_TICK_MS, signal);
      await this.#pauseUntil(startedAt + longest, intervalMs);
    }
  }

  /**
   * Waits until a time, or until the pace has become faster than in this round.
   * @returns false: it has
   */
  async #pauseUntil(time: number, intervalMs: number): Promise<boolean> {
    const { clock, pace } = this.#options;
    const { signal } = this.#stopped;
    for (;;) {
      const rest = time - clock.now();
      // A longer wait means that the clock was set back.
      const isOver = rest < SHORTEST_TICK_MS || rest > intervalMs;
      if (isOver || signal.aborted) return true;
      await pause(clock, Math.min(rest, CHECK_MS), signal);
      if (pace.intervalMs < intervalMs) return false;
    }
  }

  async #round(startedAt: number, intervalMs: number): Promise<void> {
    const { live, hosts } = this.#options;
    const requested = (await live?.()) ?? [];
    if (live !== undefined) this.#evict(requested);
    await this.#fetchAll(requested, startedAt, intervalMs);
    await this.#notify(requested, intervalMs);
    if (live !== undefined) void hosts.coarse.follow();
  }

  /**
   * Starts the requests of all hosts, some in each tick. Hosts with a pending
   * request are skipped. Ends early when metrics are requested more often.
   */
  async #fetchAll(
    live: readonly StatsHost[],
    startedAt: number,
    intervalMs: number,
  ): Promise<void> {
    const { signal } = this.#stopped;
    const gapMs = intervalMs / Math.max(1, live.length);
    for (const [i, host] of live.entries()) {
      const isOnTime = await this.#pauseUntil(
        startedAt + i * gapMs,
        intervalMs,
      );
      if (signal.aborted || !isOnTime) return;
      this.#begin(host);
    }
  }

  #begin(host: StatsHost): void {
    const { clock } = this.#options;
    let health = this.#health.get(host.id);
    if (health === undefined) {
      health = { failures: 0, retryAt: 0, isRequested: false };
      this.#health.set(host.id, health);
    }
    const wait = health.retryAt - clock.now();
    // A longer wait means that the clock was set back.
    if (health.isRequested || (wait > 0 && wait <= LONGEST_BACKOFF_MS)) return;
    health.isRequested = true;
    const requested = () => this.#fetch(host, health);
    void (health.failures > 0
      ? this.#doubtful.run(requested)
      : this.#turns.run(() => this.#upToSlow(requested())));
  }

  /** Resolves when the request has ended, or after SLOW_MS. */
  async #upToSlow(work: Promise<void>): Promise<void> {
    const early = new AbortController();
    const { clock } = this.#options;
    await Promise.race([work, pause(clock, SLOW_MS, early.signal)]);
    early.abort("ended");
  }

  /** Never rejects. */
  async #fetch(host: StatsHost, health: Health): Promise<void> {
    try {
      await this.#options.hosts.fetch(host);
      this.#answers++;
      health.failures = 0;
    } catch (error) {
      if (health.failures === 0)
        this.#options.logger.debug(
          `${host.address} did not return statistics`,
          { error },
        );
      this.#failures++;
      health.failures++;
      health.retryAt = this.#options.clock.now() + this.#backoff(health);
    }
    health.isRequested = false;
  }

  /**
   * Delay until the next attempt, doubled with each failure, with jitter so that
   * hosts that failed together are not retried together.
   */
  #backoff({ failures }: Health): number {
    const { pace, random = Math.random } = this.#options;
    const { intervalMs } = pace;
    const longest = Math.min(LONGEST_BACKOFF_MS, intervalMs * 2 ** failures);
    return longest * (0.75 + random() / 4);
  }

  #evict(live: readonly StatsHost[]): void {
    this.#hosts = live.length;
    const ids = new Set(live.map(({ id }) => id));
    for (const [id, { isRequested }] of this.#health)
      if (!ids.has(id) && !isRequested) this.#health.delete(id);
    this.#options.hosts.evictHosts((id) => ids.has(id));
  }

  async #notify(live: readonly StatsHost[], intervalMs: number): Promise<void> {
    const { hosts, now, inventory, clock } = this.#options;
    const at = clock.now();
    // When the interval has just become shorter, the last answers of some hosts are old.
    const longest = Math.max(intervalMs, this.#intervalMs);
    const expiryMs = longest + MAX_MISSING * STEP * 1000;
    this.#intervalMs = intervalMs;
    const isExpired = (_pool: string, followed: TrackedObject) => {
      now.dropIfOld(followed, at - expiryMs);
      return at - followed.receivedAt > FORGET_MS;
    };
    await inventory.runInSlices("stats", hosts.seriesStore.sweep(isExpired));
    now.commit();
    const lags = live.flatMap(({ id }) => {
      const end = hosts.endOf(id);
      return end === undefined || end === 0 ? [] : [clock.now() / 1000 - end];
    });
    const sum = lags.reduce((all, lag) => all + lag, 0);
    this.#lagSeconds = lags.length === 0 ? 0 : sum / lags.length;
  }
}
