import { randomUUID } from "node:crypto";
import { XoError } from "@xo-server/model";
import type { Catalog, Queries } from "@xo-server/inventory";
import type { Alarm, Store } from "@xo-server/store";
import type { Clock } from "../clock.js";
import type { Config } from "../config/config.js";
import type { Logger } from "../log/logger.js";
import type { PoolStatus } from "../status/status.js";
import type { Watcher } from "./finding.js";
import { HappeningWatcher } from "./happening-watcher.js";
import { Ledger } from "./ledger.js";
import { createMailSender } from "./mail-sender.js";
import { toNoticeBody } from "./notice.js";
import { ObjectWatcher } from "./object-watcher.js";
import { Outbox, sayWhatFailed, secretOf } from "./outbox.js";
import { isFollowed, PoolWatcher } from "./pool-watcher.js";
import { Reminders } from "./reminders.js";
import { toRule, type Rule } from "./rule.js";
import { RuleState } from "./rule-state.js";
import { createHookCaller } from "./web-hook.js";

export interface AlarmsOptions {
  readonly store: Pick<
    Store,
    "alarmRules" | "alarms" | "alarmNotices" | "onChange"
  >;
  readonly queries: Pick<Queries, "live" | "metrics">;
  readonly catalog: Pick<Catalog, "get">;
  readonly listPools: () => readonly PoolStatus[];
  readonly mail: Config["mail"];
  readonly clock: Clock;
  readonly logger: Pick<Logger, "warn">;
}

/** How a rule is doing. */
export interface RuleFigures {
  readonly open: number;
  /** It is so of these as well, but there are too many to keep. */
  readonly others: number;
  /** Why it is not followed. */
  readonly problem?: string;
}

interface Followed {
  readonly rule: Rule;
  readonly state: RuleState;
  problem?: string;
}

/** Follows all rules: what they find is written down, and told. */
export class Alarms {
  readonly #options: AlarmsOptions;
  readonly #ledger: Ledger;
  readonly #outbox: Outbox;
  readonly #reminders: Reminders;
  readonly #followed = new Map<string, Followed>();
  readonly #listeners = new Set<() => void>();
  readonly #unsubscribe: () => void;
  #applying: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: AlarmsOptions) {
    const { store, clock, logger } = options;
    this.#options = options;
    this.#outbox = new Outbox({
      store,
      clock,
      logger,
      sendMail: createMailSender(options.mail),
      callHook: createHookCaller(clock),
    });
    const onWritten = () => {
      this.#outbox.wake();
      for (const listener of this.#listeners) listener();
    };
    this.#ledger = new Ledger({ store, clock, logger, onWritten });
    this.#reminders = new Reminders({ store, clock, logger, onWritten });
    this.#unsubscribe = store.onChange((table) => {
      if (table === "alarm_rules") void this.apply();
    });
  }

  /** Goes on with what was open in the last run. */
  async start(): Promise<void> {
    await this.apply();
    this.#outbox.wake();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#unsubscribe();
    await this.#applying;
    for (const { state } of this.#followed.values()) state.stop();
    this.#followed.clear();
    this.#reminders.stop();
    await this.#ledger.stop();
    await this.#outbox.stop();
  }

  /** Hears when alarms have changed. @returns how to stop listening */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  figures(ruleId: string): RuleFigures {
    const followed = this.#followed.get(ruleId);
    if (followed === undefined) return { open: 0, others: 0 };
    const { state, problem } = followed;
    return { ...state.counts, ...(problem === undefined ? {} : { problem }) };
  }

  /** Sends a message to each that the rule tells. @throws XoError NO_SUCH_OBJECT */
  async test(
    ruleId: string,
  ): Promise<{ readonly targetId: string; readonly error?: string }[]> {
    const { store, clock } = this.#options;
    const stored = store.alarmRules.get(ruleId);
    if (stored === undefined)
      throw new XoError("NO_SUCH_OBJECT", { type: "alarm rule", id: ruleId });
    const rule = toRule(stored);
    const now = clock.now();
    const alarm: Alarm = {
      id: randomUUID(),
      ruleId,
      beganAt: now,
      body: { type: "test", name: rule.name },
    };
    const body = toNoticeBody(rule, "test", { alarms: [alarm], now });
    return Promise.all(
      rule.sendTo.map(async (target) => {
        const secret = secretOf(store.alarmRules, ruleId, target.id);
        try {
          await this.#outbox.send(target, secret, { id: alarm.id, body });
          return { targetId: target.id };
        } catch (error) {
          return { targetId: target.id, error: sayWhatFailed(error) };
        }
      }),
    );
  }

  /** Follows the rules as they are now. Never rejects. */
  apply(): Promise<void> {
    this.#applying = this.#applying
      .then(() => this.#apply())
      .catch((error: unknown) => {
        this.#options.logger.warn("rules of alarms could not be read", {
          error,
        });
      });
    return this.#applying;
  }

  async #apply(): Promise<void> {
    if (this.#isStopped) return;
    const { alarmRules } = this.#options.store;
    const rules = new Map(
      Array.from(alarmRules.list(), toRule).map((rule) => [rule.id, rule]),
    );
    for (const id of [...this.#followed.keys()])
      if (!rules.has(id)) this.#drop(id);
    const changed = [...rules.values()].filter(
      ({ id, updatedAt }) =>
        this.#followed.get(id)?.rule.updatedAt !== updatedAt,
    );
    if (changed.length === 0) return;
    const before = await this.#ledger.recall();
    for (const rule of changed) await this.#follow(rule, before);
    this.#reminders.follow([...rules.values()]);
  }

  #drop(id: string): void {
    this.#followed.get(id)?.state.stop();
    this.#followed.delete(id);
    this.#ledger.drop(id);
  }

  async #follow(
    rule: Rule,
    before: ReadonlyMap<string, readonly Alarm[]>,
  ): Promise<void> {
    const old = this.#followed.get(rule.id);
    old?.state.stop();
    this.#followed.delete(rule.id);
    const isOther =
      old !== undefined &&
      JSON.stringify(old.rule.on) !== JSON.stringify(rule.on);
    if (isOther || !rule.enabled) await this.#ledger.endAll(rule);
    if (!rule.enabled) return;
    const state = new RuleState(
      rule,
      isOther ? [] : (before.get(rule.id) ?? []),
      {
        ledger: this.#ledger,
        clock: this.#options.clock,
        poolOf: (id) => this.#options.catalog.get(id)?.pool,
        isFollowed: (pool) => this.#isFollowed(pool),
      },
    );
    const followed: Followed = { rule, state };
    this.#followed.set(rule.id, followed);
    try {
      state.watch(await this.#watch(rule, state));
    } catch (error) {
      followed.problem = (error as Error).message;
    }
  }

  async #watch(rule: Rule, state: RuleState): Promise<Watcher> {
    const { queries, catalog, listPools, clock } = this.#options;
    const { on } = rule;
    switch (on.kind) {
      case "statistic":
      case "object":
        return ObjectWatcher.start(on, state, {
          queries,
          catalog,
          isFollowed: (pool) => this.#isFollowed(pool),
        });
      case "message":
      case "task":
        return HappeningWatcher.start(on, state, { queries, catalog });
      case "pool":
        return new PoolWatcher(state, { listPools, clock });
    }
  }

  #isFollowed(pool: string): boolean {
    const one = this.#options.listPools().find(({ id }) => id === pool);
    return isFollowed(one?.state);
  }
}
