import type { WallClock } from "@xo-server/kit";
import type { Alarm, NewAlarm, NewNotice, Store } from "@xo-server/store";
import type { Logger } from "../log/logger.js";
import { toBody } from "./alarm-body.js";
import type { Match } from "./match.js";
import { toNoticeBody, toNotices, type NoticeEvent } from "./notice.js";
import type { AlarmRule } from "./alarm-rule.js";

interface AlarmWriterOptions {
  readonly store: Pick<Store, "alarms">;
  readonly clock: WallClock;
  readonly logger: Pick<Logger, "warn">;
  /** Called when alarms have changed or notices were queued. */
  readonly onWritten: () => void;
}

/** Changes within this time are written, and notified, together. */
const BATCH_MS = 500;
/**
 * Minimum interval between two notices of a rule, so that many alarms are
 * reported in few notices.
 */
const MIN_INTERVAL_MS = 10_000;
/** Interval of retries when the database is unavailable. */
const RETRY_MS = 5_000;
/** Maximum number of cleared alarms that are stored. */
const MAX_CLEARED = 10_000;
/** Page size of reads. */
const PAGE = 1_000;

/** Pending changes of one rule. */
class Batch {
  rule: AlarmRule;
  readonly raising = new Map<string, NewAlarm>();
  readonly events: NewAlarm[] = [];
  readonly clearing = new Set<string>();
  omitted = 0;
  constructor(rule: AlarmRule) {
    this.rule = rule;
  }
}

/**
 * Maximum number of pending events of a rule; further ones are only counted.
 */
const MAX_EVENTS = 500;

/**
 * Writes alarms together with the notices that report them, in one transaction.
 */
export class AlarmWriter {
  readonly #options: AlarmWriterOptions;
  readonly #batches = new Map<string, Batch>();
  /** Ids of open alarms by key, by rule. */
  readonly #ids = new Map<string, Map<string, string>>();
  readonly #notifiedAt = new Map<string, number>();
  readonly #timers = new Map<string, unknown>();
  #writing: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: AlarmWriterOptions) {
    this.#options = options;
  }

  /** All open alarms and the newest others, by rule, newest first. */
  async load(): Promise<ReadonlyMap<string, readonly Alarm[]>> {
    const { alarms } = this.#options.store;
    const byRule = new Map<string, Alarm[]>();
    const seen = new Set<string>();
    const newest = await alarms.list({ limit: PAGE });
    for (const alarm of [...newest, ...(await this.#listOpen())]) {
      if (seen.has(alarm.id)) continue;
      seen.add(alarm.id);
      const { ruleId } = alarm;
      byRule.set(ruleId, [...(byRule.get(ruleId) ?? []), alarm]);
      if (alarm.key !== undefined) this.#idsOf(ruleId).set(alarm.key, alarm.id);
    }
    return byRule;
  }

  raise(rule: AlarmRule, match: Match): void {
    const { key, objectId } = match;
    const batch = this.#batch(rule);
    // The end of the alarm is not in the database yet: the alarm stays open.
    if (batch.clearing.delete(key)) return;
    batch.raising.set(key, {
      ruleId: rule.id,
      key,
      ...(objectId === undefined ? {} : { objectId }),
      beganAt: this.#options.clock.now(),
      body: toBody(rule, match),
    });
  }

  clear(rule: AlarmRule, key: string): void {
    const batch = this.#batch(rule);
    // The alarm is not in the database yet: drop it instead of writing it as cleared.
    if (batch.raising.delete(key)) return;
    batch.clearing.add(key);
  }

  /** Records an event: an alarm that is cleared as soon as it is raised. */
  recordEvent(rule: AlarmRule, match: Match, at: number): void {
    const { key, objectId } = match;
    const batch = this.#batch(rule);
    if (batch.events.length >= MAX_EVENTS) {
      batch.omitted++;
      return;
    }
    batch.events.push({
      ruleId: rule.id,
      key,
      ...(objectId === undefined ? {} : { objectId }),
      beganAt: at,
      endedAt: at,
      body: { ...toBody(rule, match), source: key },
    });
  }

  /** Reports the number of matching objects beyond the maximum. */
  reportOmitted(rule: AlarmRule, count: number): void {
    this.#batch(rule).omitted = count;
  }

  /** Clears all open alarms of a rule without notices. */
  async clearAll({ id }: Pick<AlarmRule, "id">): Promise<void> {
    this.#discard(id);
    await this.#writing;
    const { store, clock, onWritten } = this.#options;
    const ids = [...this.#idsOf(id).values()];
    this.#ids.delete(id);
    await store.alarms.end(ids, clock.now(), () => []);
    onWritten();
  }

  /** Discards the state of a deleted rule. */
  drop(ruleId: string): void {
    this.#discard(ruleId);
    this.#ids.delete(ruleId);
    this.#notifiedAt.delete(ruleId);
  }

  /** Writes the pending changes before it resolves. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const id of [...this.#batches.keys()]) this.#flush(id);
    await this.#writing;
  }

  #discard(ruleId: string): void {
    this.#options.clock.clearTimeout(this.#timers.get(ruleId));
    this.#timers.delete(ruleId);
    this.#batches.delete(ruleId);
  }

  #batch(rule: AlarmRule): Batch {
    const batch = this.#batches.get(rule.id) ?? new Batch(rule);
    batch.rule = rule;
    this.#batches.set(rule.id, batch);
    this.#schedule(rule.id);
    return batch;
  }

  #schedule(ruleId: string, least = BATCH_MS): void {
    if (this.#timers.has(ruleId) || this.#isStopped) return;
    const { clock } = this.#options;
    const gap =
      (this.#notifiedAt.get(ruleId) ?? -Infinity) +
      MIN_INTERVAL_MS -
      clock.now();
    const timer = clock.setTimeout(
      () => {
        this.#timers.delete(ruleId);
        this.#flush(ruleId);
      },
      Math.max(least, gap),
    );
    this.#timers.set(ruleId, timer);
  }

  #flush(ruleId: string): void {
    const batch = this.#batches.get(ruleId);
    this.#batches.delete(ruleId);
    if (batch === undefined) return;
    this.#writing = this.#writing.then(() => this.#write(batch));
  }

  /** Never rejects. */
  async #write(batch: Batch): Promise<void> {
    const { logger, clock, onWritten } = this.#options;
    const { rule } = batch;
    try {
      await this.#raise(batch);
      await this.#end(batch);
      this.#notifiedAt.set(rule.id, clock.now());
    } catch (error) {
      logger.warn("alarms could not be recorded", {
        rule: rule.name,
        error,
      });
      this.#requeue(batch);
    }
    onWritten();
  }

  async #raise({
    rule,
    raising,
    events: happened,
    omitted,
  }: Batch): Promise<void> {
    const { alarms } = this.#options.store;
    if (raising.size + happened.length + omitted === 0) return;
    const created = [...raising.values(), ...happened];
    const raised = await alarms.raise(created, (written) =>
      written.length === 0 && omitted === 0
        ? []
        : this.#toNotices(rule, "raised", written, omitted),
    );
    const ids = this.#idsOf(rule.id);
    for (const { key, id } of raised) if (key !== undefined) ids.set(key, id);
    // Another server has written the other alarms.
    if (raised.length < created.length)
      for (const { ruleId, key, id } of await this.#listOpen())
        if (ruleId === rule.id && key !== undefined) ids.set(key, id);
    raising.clear();
    happened.length = 0;
    await alarms.prune(MAX_CLEARED);
  }

  async #end({ rule, clearing: ending }: Batch): Promise<void> {
    const { store, clock } = this.#options;
    const ids = this.#idsOf(rule.id);
    const ended = [...ending].flatMap((key) => ids.get(key) ?? []);
    if (ended.length === 0) return;
    await store.alarms.end(ended, clock.now(), (written) =>
      rule.notifyOnClear ? this.#toNotices(rule, "ended", written, 0) : [],
    );
    for (const key of ending) ids.delete(key);
    ending.clear();
  }

  /** Changes that arrived meanwhile take precedence. */
  #requeue(batch: Batch): void {
    const later = this.#batches.get(batch.rule.id);
    if (later !== undefined) {
      for (const key of later.clearing)
        if (!batch.raising.delete(key)) batch.clearing.add(key);
      for (const [key, alarm] of later.raising)
        if (!batch.clearing.delete(key)) batch.raising.set(key, alarm);
      batch.events.push(...later.events);
    }
    this.#batches.set(batch.rule.id, batch);
    this.#schedule(batch.rule.id, RETRY_MS);
  }

  #toNotices(
    rule: AlarmRule,
    event: NoticeEvent,
    alarms: readonly Alarm[],
    omitted: number,
  ): NewNotice[] {
    const now = this.#options.clock.now();
    return toNotices(rule, toNoticeBody(rule, event, { alarms, omitted, now }));
  }

  async #listOpen(): Promise<readonly Alarm[]> {
    const { alarms } = this.#options.store;
    const all: Alarm[] = [];
    for (;;) {
      const after = all.at(-1);
      const page = await alarms.list({
        isOpen: true,
        limit: PAGE,
        ...(after === undefined ? {} : { after }),
      });
      all.push(...page);
      if (page.length < PAGE) return all;
    }
  }

  #idsOf(ruleId: string): Map<string, string> {
    const ids = this.#ids.get(ruleId) ?? new Map<string, string>();
    this.#ids.set(ruleId, ids);
    return ids;
  }
}
