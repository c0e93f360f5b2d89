import { Semaphore, type Inventory } from "@xo-server/inventory";
import type { Clock } from "../clock.js";
import type { Logger } from "../log/logger.js";
import { pause } from "../tasks/pause.js";
import type { StatsHost } from "./fetch-measurements.js";
import { archives } from "./granularity.js";
import type { HostStats } from "./host-stats.js";
import type { NowValues } from "./now-values.js";
import type { Followed } from "./tracks.js";

export interface FollowerOptions {
  readonly hosts: HostStats;
  readonly now: NowValues;
  readonly inventory: Pick<Inventory, "runInSlices">;
  /** Hosts that can be asked now; absent: none is followed, but what is old goes. */
  readonly live?: () => Promise<readonly StatsHost[]>;
  /** Each host is asked so often. */
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly logger: Pick<Logger, "debug" | "error">;
  /** In [0, 1). */
  readonly random?: () => number;
}

export interface FollowerFigures {
  /** Hosts of the round that is under way. */
  readonly hosts: number;
  /** Those of them that failed the last time. */
  readonly failing: number;
  readonly answers: number;
  readonly failures: number;
  /** From a host's measurement to the figures that clients are told, in s, by the host's clock: the mean of the last round. */
  readonly lagSeconds: number;
}

/** Questions under way at a time, of hosts that answered the last time. */
const MOST_ASKED = 32;
/** The same of hosts that did not: they never take a turn from others. */
const MOST_DOUBTFUL = 8;
/** Who takes longer makes room for the next one, and is waited for all the same. */
const SLOW_MS = 2_000;
const SHORTEST_TICK_MS = 20;
/** As long as there is no host. */
const LOOK_MS = 1_000;
const LONGEST_BACKOFF_MS = 300_000;
/** What is older than all rows that could be kept. */
const { step: STEP, points } = archives.seconds;
const FORGET_MS = points * STEP * 1000;

interface Health {
  failures: number;
  /** By the clock: not asked before. */
  retryAt: number;
  isAsked: boolean;
}

/**
 * Asks every live host once an interval for what it has measured since, the
 * hosts spread evenly over the interval; at the end of each round the latest
 * figures are told.
 */
export class Follower {
  readonly #options: FollowerOptions;
  readonly #health = new Map<string, Health>();
  readonly #turns = new Semaphore(MOST_ASKED);
  readonly #doubtful = new Semaphore(MOST_DOUBTFUL);
  readonly #stopped = new AbortController();
  #hosts = 0;
  #answers = 0;
  #failures = 0;
  #lagSeconds = 0;
  #running: Promise<void> | undefined;

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Resolves when the round that is under way has been left. */
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
    const { clock, intervalMs, live, logger } = this.#options;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const startedAt = clock.now();
      await this.#round(startedAt).catch((error: unknown) => {
        logger.error("a round of statistics failed", { error });
      });
      const isIdle = live !== undefined && this.#hosts === 0;
      const longest = isIdle ? LOOK_MS : intervalMs;
      const rest = startedAt + Math.min(longest, intervalMs) - clock.now();
      await pause(clock, Math.max(SHORTEST_TICK_MS, rest), signal);
    }
  }

  async #round(startedAt: number): Promise<void> {
    const { live, hosts } = this.#options;
    const asked = (await live?.()) ?? [];
    if (live !== undefined) this.#forget(asked);
    await this.#askAll(asked, startedAt);
    await this.#tell(asked);
    if (live !== undefined) void hosts.coarse.follow();
  }

  /** Begins with all of them, a few a tick; those that are asked still are left out. */
  async #askAll(live: readonly StatsHost[], startedAt: number): Promise<void> {
    const { clock, intervalMs } = this.#options;
    const { signal } = this.#stopped;
    const gapMs = intervalMs / Math.max(1, live.length);
    for (const [i, host] of live.entries()) {
      const wait = startedAt + i * gapMs - clock.now();
      if (wait >= SHORTEST_TICK_MS) await pause(clock, wait, signal);
      if (signal.aborted) return;
      this.#begin(host);
    }
  }

  #begin(host: StatsHost): void {
    const { clock } = this.#options;
    let health = this.#health.get(host.id);
    if (health === undefined) {
      health = { failures: 0, retryAt: 0, isAsked: false };
      this.#health.set(host.id, health);
    }
    if (health.isAsked || clock.now() < health.retryAt) return;
    health.isAsked = true;
    const asked = () => this.#ask(host, health);
    void (health.failures > 0
      ? this.#doubtful.run(asked)
      : this.#turns.run(() => this.#awhile(asked())));
  }

  /** Resolves when it has ended, or a while has passed. */
  async #awhile(work: Promise<void>): Promise<void> {
    const early = new AbortController();
    const { clock } = this.#options;
    await Promise.race([work, pause(clock, SLOW_MS, early.signal)]);
    early.abort();
  }

  /** Never fails. */
  async #ask(host: StatsHost, health: Health): Promise<void> {
    try {
      await this.#options.hosts.ask(host);
      this.#answers++;
      health.failures = 0;
    } catch (error) {
      if (health.failures === 0)
        this.#options.logger.debug(`${host.address} does not tell`, { error });
      this.#failures++;
      health.failures++;
      health.retryAt = this.#options.clock.now() + this.#backoff(health);
    }
    health.isAsked = false;
  }

  /** Twice as long each time, somewhat by chance: those that failed together are not asked together. */
  #backoff({ failures }: Health): number {
    const { intervalMs, random = Math.random } = this.#options;
    const longest = Math.min(LONGEST_BACKOFF_MS, intervalMs * 2 ** failures);
    return longest * (0.75 + random() / 4);
  }

  #forget(live: readonly StatsHost[]): void {
    this.#hosts = live.length;
    const ids = new Set(live.map(({ id }) => id));
    for (const [id, { isAsked }] of this.#health)
      if (!ids.has(id) && !isAsked) this.#health.delete(id);
    this.#options.hosts.forgetHosts((id) => ids.has(id));
  }

  async #tell(live: readonly StatsHost[]): Promise<void> {
    const { hosts, now, inventory, clock } = this.#options;
    const at = clock.now();
    const goes = (_pool: string, followed: Followed) => {
      now.dropIfOld(followed, at);
      return at - followed.heardAt > FORGET_MS;
    };
    await inventory.runInSlices("stats", hosts.tracks.sweep(goes));
    now.commit();
    const lags = live.flatMap(({ id }) => {
      const end = hosts.endOf(id);
      return end === undefined || end === 0 ? [] : [clock.now() / 1000 - end];
    });
    const sum = lags.reduce((all, lag) => all + lag, 0);
    this.#lagSeconds = lags.length === 0 ? 0 : sum / lags.length;
  }
}
