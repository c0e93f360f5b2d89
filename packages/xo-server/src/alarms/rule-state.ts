import type { WallClock } from "@xo-server/kit";
import type { Alarm } from "@xo-server/store";
import { bodyOf } from "./alarm-body.js";
import type { Match, MatchHandler, ConditionWatcher } from "./match.js";
import type { AlarmWriter } from "./alarm-writer.js";
import type { AlarmRule } from "./alarm-rule.js";

interface RuleStateOptions {
  readonly writer: AlarmWriter;
  readonly clock: WallClock;
  /** Id of the pool connection of an object. */
  readonly poolOf: (objectId: string) => string | undefined;
  /** Whether objects of the pool are current. */
  readonly isCurrent: (pool: string) => boolean;
}

/**
 * Maximum number of open alarms of a rule; further matches are only counted.
 */
const MAX_OPEN = 500;

/** Interval of the check of open alarms whose object is unknown. */
const UNKNOWN_CHECK_MS = 30_000;
/**
 * An object without metrics for this time, while its pool is connected, no
 * longer exists.
 */
const UNMEASURED_MS = 600_000;
/** Events older than this are not reported. */
const MAX_EVENT_AGE_MS = 86_400_000;

interface Pending {
  since: number;
  match: Match;
}

/**
 * Which objects match a rule, since when, and which have an open alarm. All pending
 * matches wait equally long, so one timer serves all of them.
 */
export class RuleState implements MatchHandler {
  readonly #rule: AlarmRule;
  readonly #options: RuleStateOptions;
  /** Ordered by the start of the match. */
  readonly #pending = new Map<string, Pending>();
  readonly #open = new Map<string, Match>();
  /** Matching objects of pools that are not current; evaluated again when the pool is. */
  readonly #deferred = new Map<string, Match>();
  /** Keys of matches beyond the maximum. */
  readonly #omitted = new Set<string>();
  /** Open alarms whose object is unknown, with the time since which it is. */
  readonly #unknownSince = new Map<string, number>();
  /** Ids of messages and tasks that were reported. */
  readonly #knownSources: Set<string>;
  readonly #startedAt: number;
  #watcher: ConditionWatcher | undefined;
  #timer: unknown;
  #unknownTimer: unknown;

  /** @param before alarms of the rule, newest first */
  constructor(
    rule: AlarmRule,
    before: readonly Alarm[],
    options: RuleStateOptions,
  ) {
    this.#rule = rule;
    this.#options = options;
    this.#startedAt = options.clock.now();
    this.#knownSources = new Set(
      before.flatMap((alarm) => bodyOf(alarm).source ?? []),
    );
    this.adopt(before);
  }

  /** Adds alarms of the rule that are open in the database. */
  adopt(alarms: readonly Alarm[]): void {
    for (const alarm of alarms) {
      const { key, objectId } = alarm;
      if (key === undefined || this.#open.has(key)) continue;
      this.#open.set(key, {
        ...bodyOf(alarm),
        key,
        ...(objectId === undefined ? {} : { objectId }),
      });
      this.#markUnknown(key);
    }
  }

  /** Number of open alarms, and of matches beyond the maximum. */
  get counts(): { readonly open: number; readonly omitted: number } {
    return { open: this.#open.size, omitted: this.#omitted.size };
  }

  watch(watcher: ConditionWatcher): void {
    this.#watcher = watcher;
  }

  stop(): void {
    const { clock } = this.#options;
    this.#watcher?.stop();
    clock.clearTimeout(this.#timer);
    clock.clearTimeout(this.#unknownTimer);
    this.#pending.clear();
    this.#deferred.clear();
  }

  matched(match: Match): void {
    const { key } = match;
    this.#unknownSince.delete(key);
    if (this.#open.has(key)) return;
    const pending = this.#pending.get(key);
    if (!this.#isCurrent(match)) this.#defer(match);
    else if (pending !== undefined) pending.match = match;
    else if (this.#rule.forSeconds === 0) this.#raise(match);
    else {
      const since = this.#options.clock.now();
      this.#pending.set(key, { since, match });
      this.#wait();
    }
  }

  inHysteresis({ key }: Match): void {
    this.#pending.delete(key);
    this.#deferred.delete(key);
    this.#unknownSince.delete(key);
    this.#omitted.delete(key);
  }

  cleared(key: string): void {
    this.#pending.delete(key);
    this.#deferred.delete(key);
    this.#omitted.delete(key);
    const match = this.#open.get(key);
    if (match === undefined) return;
    if (this.#unmatchedState(key, match) === "ended") this.#clear(key);
    else this.#markUnknown(key);
  }

  occurred(match: Match, at: number): void {
    const { key } = match;
    const { updatedAt } = this.#rule;
    const since = Math.max(updatedAt, this.#startedAt - MAX_EVENT_AGE_MS);
    if (this.#knownSources.has(key) || at < since - (since % 1000)) return;
    this.#knownSources.add(key);
    this.#options.writer.recordEvent(this.#rule, this.#withPool(match), at);
  }

  /** To be called when the objects of the pool have become current. */
  poolCurrent(pool: string): void {
    for (const [key, match] of [...this.#deferred])
      if (this.#withPool(match).pool === pool) {
        this.#deferred.delete(key);
        this.matched(match);
      }
    this.#resolve(pool);
  }

  /** Clears all open alarms without notices. */
  async clearAll(): Promise<void> {
    await this.#options.writer.clearAll(this.#rule);
  }

  #raise(match: Match): void {
    if (this.#open.size >= MAX_OPEN) {
      this.#omitted.add(match.key);
      this.#options.writer.reportOmitted(this.#rule, this.#omitted.size);
      return;
    }
    const withPool = this.#withPool(match);
    this.#omitted.delete(match.key);
    this.#open.set(match.key, withPool);
    this.#options.writer.raise(this.#rule, withPool);
  }

  #clear(key: string): void {
    this.#unknownSince.delete(key);
    this.#open.delete(key);
    this.#options.writer.clear(this.#rule, key);
  }

  #withPool(match: Match): Match {
    const { pool, objectId } = match;
    if (pool !== undefined || objectId === undefined) return match;
    const found = this.#options.poolOf(objectId);
    return found === undefined ? match : { ...match, pool: found };
  }

  #wait(): void {
    const { clock } = this.#options;
    const [first] = this.#pending.values();
    if (first === undefined || this.#timer !== undefined) return;
    const now = clock.now();
    // A time in the future: the clock was set back.
    for (const pending of this.#pending.values())
      if (pending.since > now) pending.since = now;
      else break;
    const due = first.since + 1000 * this.#rule.forSeconds;
    this.#timer = clock.setTimeout(
      () => {
        this.#timer = undefined;
        this.#raiseDue();
        this.#wait();
      },
      Math.max(due - now, 0),
    );
  }

  #raiseDue(): void {
    const since = this.#options.clock.now() - 1000 * this.#rule.forSeconds;
    for (const [key, pending] of this.#pending) {
      if (pending.since > since) return;
      this.#pending.delete(key);
      if (this.#isCurrent(pending.match)) this.#raise(pending.match);
      else this.#defer(pending.match);
    }
  }

  /**
   * False for outdated objects, for example of the previous run: they neither raise
   * nor clear an alarm.
   */
  #isCurrent(match: Match): boolean {
    if (this.#rule.on.kind === "pool") return true;
    const { pool } = this.#withPool(match);
    return pool === undefined || this.#options.isCurrent(pool);
  }

  #defer(match: Match): void {
    this.#pending.delete(match.key);
    this.#deferred.set(match.key, match);
  }

  #unmatchedState(key: string, match: Match) {
    return this.#watcher?.unmatchedState(key, match) ?? "unknown";
  }

  #markUnknown(key: string): void {
    const { clock } = this.#options;
    if (!this.#unknownSince.has(key)) this.#unknownSince.set(key, clock.now());
    this.#unknownTimer ??= clock.setTimeout(() => {
      this.#unknownTimer = undefined;
      this.#resolve();
    }, UNKNOWN_CHECK_MS);
  }

  /** Clears alarms whose objects no longer exist. @param pool only alarms of this pool */
  #resolve(pool?: string): void {
    const now = this.#options.clock.now();
    for (const [key, since] of [...this.#unknownSince]) {
      const match = this.#open.get(key)!;
      if (pool !== undefined && match.pool !== pool) continue;
      const isConnected =
        match.pool === undefined || this.#options.isCurrent(match.pool);
      // Time during which the pool is disconnected does not count.
      if (!isConnected) this.#unknownSince.set(key, now);
      const state = this.#unmatchedState(key, match);
      if (state === "elsewhere") this.#unknownSince.set(key, now);
      const isTooLong =
        isConnected && state === "unknown" && now - since >= UNMEASURED_MS;
      if (isTooLong || state === "ended") this.#clear(key);
      else this.#markUnknown(key);
    }
  }
}
