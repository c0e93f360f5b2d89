import type { Alarm, NewAlarm, NewNotice, Store } from "@xo-server/store";
import type { Clock } from "../clock.js";
import type { Logger } from "../log/logger.js";
import { toBody } from "./alarm-body.js";
import type { Finding } from "./finding.js";
import { toNoticeBody, toNotices, type Occasion } from "./notice.js";
import type { Rule } from "./rule.js";

export interface LedgerOptions {
  readonly store: Pick<Store, "alarms">;
  readonly clock: Clock;
  readonly logger: Pick<Logger, "warn">;
  /** Alarms have changed, or there is something to send. */
  readonly onWritten: () => void;
}

/** What comes together is written, and told, together. */
const GATHER_MS = 500;
/** Least time between two messages of a rule: a storm is told in few. */
const GAP_MS = 10_000;
/** The store is tried again after. */
const RETRY_MS = 5_000;
/** Alarms that have ended and are kept. */
const MOST_ENDED = 10_000;
/** Pages of open alarms that are read at the start. */
const PAGE = 1_000;

/** What is to be written down of one rule. */
class Batch {
  rule: Rule;
  readonly raising = new Map<string, NewAlarm>();
  readonly happened: NewAlarm[] = [];
  readonly ending = new Set<string>();
  others = 0;
  constructor(rule: Rule) {
    this.rule = rule;
  }
}

/** Happenings of a rule that wait to be written, at most: of more, it is only told how many. */
const MOST_HAPPENED = 500;

/** Writes alarms down, and in the same breath what is to be told of them. */
export class Ledger {
  readonly #options: LedgerOptions;
  readonly #batches = new Map<string, Batch>();
  /** Ids of open alarms by what they are about, by rule. */
  readonly #ids = new Map<string, Map<string, string>>();
  readonly #toldAt = new Map<string, number>();
  readonly #timers = new Map<string, unknown>();
  #writing: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: LedgerOptions) {
    this.#options = options;
  }

  /** Alarms of all rules: the open ones, and the newest of the others; by rule, the newest first. */
  async recall(): Promise<ReadonlyMap<string, readonly Alarm[]>> {
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

  raise(rule: Rule, finding: Finding): void {
    const { key, objectId } = finding;
    const batch = this.#batch(rule);
    // It comes back before its end was written: it has not ended.
    if (batch.ending.delete(key)) return;
    batch.raising.set(key, {
      ruleId: rule.id,
      key,
      ...(objectId === undefined ? {} : { objectId }),
      beganAt: this.#options.clock.now(),
      body: toBody(rule, finding),
    });
  }

  end(rule: Rule, key: string): void {
    const batch = this.#batch(rule);
    // It ends before anybody was told that it has begun.
    if (batch.raising.delete(key)) return;
    batch.ending.add(key);
  }

  /** Something that began and ended at once. */
  note(rule: Rule, finding: Finding, at: number): void {
    const { key, objectId } = finding;
    const batch = this.#batch(rule);
    if (batch.happened.length >= MOST_HAPPENED) {
      batch.others++;
      return;
    }
    batch.happened.push({
      ruleId: rule.id,
      key,
      ...(objectId === undefined ? {} : { objectId }),
      beganAt: at,
      endedAt: at,
      body: { ...toBody(rule, finding), source: key },
    });
  }

  /** It is so of others, for which there is no room. */
  tellOthers(rule: Rule, count: number): void {
    this.#batch(rule).others = count;
  }

  /** The open alarms of a rule end; nobody is told. */
  async endAll({ id }: Pick<Rule, "id">): Promise<void> {
    this.#forget(id);
    await this.#writing;
    const { store, clock, onWritten } = this.#options;
    const ids = [...this.#idsOf(id).values()];
    this.#ids.delete(id);
    await store.alarms.end(ids, clock.now(), () => []);
    onWritten();
  }

  /** Of a rule that is not there any more. */
  drop(ruleId: string): void {
    this.#forget(ruleId);
    this.#ids.delete(ruleId);
    this.#toldAt.delete(ruleId);
  }

  /** What was found is written down. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const id of [...this.#batches.keys()]) this.#flush(id);
    await this.#writing;
  }

  #forget(ruleId: string): void {
    this.#options.clock.clearTimeout(this.#timers.get(ruleId));
    this.#timers.delete(ruleId);
    this.#batches.delete(ruleId);
  }

  #batch(rule: Rule): Batch {
    const batch = this.#batches.get(rule.id) ?? new Batch(rule);
    batch.rule = rule;
    this.#batches.set(rule.id, batch);
    this.#schedule(rule.id);
    return batch;
  }

  #schedule(ruleId: string, least = GATHER_MS): void {
    if (this.#timers.has(ruleId) || this.#isStopped) return;
    const { clock } = this.#options;
    const gap = (this.#toldAt.get(ruleId) ?? -Infinity) + GAP_MS - clock.now();
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
      this.#toldAt.set(rule.id, clock.now());
    } catch (error) {
      logger.warn("alarms could not be written down", {
        rule: rule.name,
        error,
      });
      this.#putBack(batch);
    }
    onWritten();
  }

  async #raise({ rule, raising, happened, others }: Batch): Promise<void> {
    const { alarms } = this.#options.store;
    if (raising.size + happened.length + others === 0) return;
    const news = [...raising.values(), ...happened];
    const raised = await alarms.raise(news, (written) =>
      written.length === 0 && others === 0
        ? []
        : this.#toNotices(rule, "raised", written, others),
    );
    const ids = this.#idsOf(rule.id);
    for (const { key, id } of raised) if (key !== undefined) ids.set(key, id);
    // Another server has written the others down.
    if (raised.length < news.length)
      for (const { ruleId, key, id } of await this.#listOpen())
        if (ruleId === rule.id && key !== undefined) ids.set(key, id);
    raising.clear();
    happened.length = 0;
    await alarms.prune(MOST_ENDED);
  }

  async #end({ rule, ending }: Batch): Promise<void> {
    const { store, clock } = this.#options;
    const ids = this.#idsOf(rule.id);
    const ended = [...ending].flatMap((key) => ids.get(key) ?? []);
    if (ended.length === 0) return;
    await store.alarms.end(ended, clock.now(), (written) =>
      rule.tellsEnd ? this.#toNotices(rule, "ended", written, 0) : [],
    );
    for (const key of ending) ids.delete(key);
    ending.clear();
  }

  /** What was found meanwhile goes before. */
  #putBack(batch: Batch): void {
    const news = this.#batches.get(batch.rule.id);
    if (news !== undefined) {
      for (const key of news.ending)
        if (!batch.raising.delete(key)) batch.ending.add(key);
      for (const [key, alarm] of news.raising)
        if (!batch.ending.delete(key)) batch.raising.set(key, alarm);
      batch.happened.push(...news.happened);
    }
    this.#batches.set(batch.rule.id, batch);
    this.#schedule(batch.rule.id, RETRY_MS);
  }

  #toNotices(
    rule: Rule,
    event: Occasion,
    alarms: readonly Alarm[],
    others: number,
  ): NewNotice[] {
    const now = this.#options.clock.now();
    return toNotices(rule, toNoticeBody(rule, event, { alarms, others, now }));
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
