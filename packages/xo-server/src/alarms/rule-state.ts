import type { Alarm } from "@xo-server/store";
import type { Clock } from "../clock.js";
import { bodyOf } from "./alarm-body.js";
import type { Finding, Findings, Watcher } from "./finding.js";
import type { Ledger } from "./ledger.js";
import type { Rule } from "./rule.js";

export interface RuleStateOptions {
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** The inventory's name for an object's pool. */
  readonly poolOf: (objectId: string) => string | undefined;
  readonly isFollowed: (pool: string) => boolean;
}

/** Alarms of a rule that are open at a time, at most: of more, it is only told how many. */
export const MOST_OPEN = 500;

/** How often it is looked at those of which nothing is known. */
const DOUBT_MS = 30_000;
/** So long nothing was measured, while the pool was there: it is not any more. */
const UNMEASURED_MS = 600_000;
/** What happened longer ago than this is no news, whoever sees it for the first time. */
const NEWS_MS = 86_400_000;

interface Pending {
  readonly since: number;
  finding: Finding;
}

/**
 * What is so of a rule: since when of what, and of what there is an alarm. One
 * timer for all that wait, because all wait equally long.
 */
export class RuleState implements Findings {
  readonly #rule: Rule;
  readonly #options: RuleStateOptions;
  /** In the order of their beginning. */
  readonly #pending = new Map<string, Pending>();
  readonly #open = new Map<string, Finding>();
  /** It is so of these as well, but there are too many. */
  readonly #others = new Set<string>();
  /** Of these that are open nothing is known, since when. */
  readonly #doubtful = new Map<string, number>();
  /** Ids of messages and tasks that have been told of. */
  readonly #known: Set<string>;
  readonly #begunAt: number;
  #watcher: Watcher | undefined;
  #timer: unknown;
  #doubtTimer: unknown;

  /** @param before alarms of the rule, the newest first */
  constructor(rule: Rule, before: readonly Alarm[], options: RuleStateOptions) {
    this.#rule = rule;
    this.#options = options;
    this.#begunAt = options.clock.now();
    this.#known = new Set(
      before.flatMap((alarm) => bodyOf(alarm).source ?? []),
    );
    for (const alarm of before)
      if (alarm.key !== undefined) {
        const { key, objectId } = alarm;
        this.#open.set(key, {
          ...bodyOf(alarm),
          key,
          ...(objectId === undefined ? {} : { objectId }),
        });
        this.#doubt(key);
      }
  }

  /** Number of alarms that are open, and of those that would be. */
  get counts(): { readonly open: number; readonly others: number } {
    return { open: this.#open.size, others: this.#others.size };
  }

  watch(watcher: Watcher): void {
    this.#watcher = watcher;
  }

  stop(): void {
    const { clock } = this.#options;
    this.#watcher?.stop();
    clock.clearTimeout(this.#timer);
    clock.clearTimeout(this.#doubtTimer);
    this.#pending.clear();
  }

  holds(finding: Finding): void {
    const { key } = finding;
    this.#doubtful.delete(key);
    if (this.#open.has(key)) return;
    const pending = this.#pending.get(key);
    if (pending !== undefined) pending.finding = finding;
    else if (this.#rule.forSeconds === 0) this.#raise(finding);
    else {
      const since = this.#options.clock.now();
      this.#pending.set(key, { since, finding });
      this.#wait();
    }
  }

  hovers({ key }: Finding): void {
    this.#pending.delete(key);
    this.#doubtful.delete(key);
    this.#others.delete(key);
  }

  away(key: string): void {
    this.#pending.delete(key);
    this.#others.delete(key);
    const finding = this.#open.get(key);
    if (finding === undefined) return;
    if (this.#standing(key, finding) === "ended") this.#end(key);
    else this.#doubt(key);
  }

  happened(finding: Finding, at: number): void {
    const { key } = finding;
    const { updatedAt } = this.#rule;
    const since = Math.max(updatedAt, this.#begunAt - NEWS_MS);
    if (this.#known.has(key) || at < since - (since % 1000)) return;
    this.#known.add(key);
    this.#options.ledger.note(this.#rule, this.#placed(finding), at);
  }

  /** All open alarms end without a word. */
  async endAll(): Promise<void> {
    await this.#options.ledger.endAll(this.#rule);
  }

  #raise(finding: Finding): void {
    if (this.#open.size >= MOST_OPEN) {
      this.#others.add(finding.key);
      this.#options.ledger.tellOthers(this.#rule, this.#others.size);
      return;
    }
    const placed = this.#placed(finding);
    this.#others.delete(finding.key);
    this.#open.set(finding.key, placed);
    this.#options.ledger.raise(this.#rule, placed);
  }

  #end(key: string): void {
    this.#doubtful.delete(key);
    this.#open.delete(key);
    this.#options.ledger.end(this.#rule, key);
  }

  #placed(finding: Finding): Finding {
    const { pool, objectId } = finding;
    if (pool !== undefined || objectId === undefined) return finding;
    const found = this.#options.poolOf(objectId);
    return found === undefined ? finding : { ...finding, pool: found };
  }

  #wait(): void {
    const { clock } = this.#options;
    const [first] = this.#pending.values();
    if (first === undefined || this.#timer !== undefined) return;
    const due = first.since + 1000 * this.#rule.forSeconds;
    this.#timer = clock.setTimeout(
      () => {
        this.#timer = undefined;
        this.#raiseDue();
        this.#wait();
      },
      Math.max(due - clock.now(), 0),
    );
  }

  #raiseDue(): void {
    const since = this.#options.clock.now() - 1000 * this.#rule.forSeconds;
    for (const [key, pending] of this.#pending) {
      if (pending.since > since) return;
      this.#pending.delete(key);
      this.#raise(pending.finding);
    }
  }

  #standing(key: string, finding: Finding) {
    return this.#watcher?.standing(key, finding) ?? "unknown";
  }

  #doubt(key: string): void {
    const { clock } = this.#options;
    if (!this.#doubtful.has(key)) this.#doubtful.set(key, clock.now());
    this.#doubtTimer ??= clock.setTimeout(() => {
      this.#doubtTimer = undefined;
      this.#resolve();
    }, DOUBT_MS);
  }

  #resolve(): void {
    const now = this.#options.clock.now();
    for (const [key, since] of [...this.#doubtful]) {
      const finding = this.#open.get(key)!;
      const isThere =
        finding.pool === undefined || this.#options.isFollowed(finding.pool);
      // While its pool is away nobody can know: that time does not count.
      if (!isThere) this.#doubtful.set(key, now);
      const isTooLong = isThere && now - since >= UNMEASURED_MS;
      if (isTooLong || this.#standing(key, finding) === "ended") this.#end(key);
      else this.#doubt(key);
    }
  }
}
