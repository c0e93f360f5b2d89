import type { WallClock } from "@xo-server/kit";
import { randomUUID } from "node:crypto";
import { XoError } from "@xo-server/model";
import type { Catalog, Queries } from "@xo-server/inventory";
import type { Alarm, Store } from "@xo-server/store";
import type { Config } from "../config/config.js";
import type { Logger } from "../log/logger.js";
import type { PoolSummary } from "../status/status.js";
import type { ConditionWatcher } from "./match.js";
import { EventRuleWatcher } from "./event-rule-watcher.js";
import { AlarmWriter } from "./alarm-writer.js";
import { createMailSender } from "../notifications/mail-sender.js";
import type { NotificationMessage } from "../notifications/message.js";
import { createMessageSender } from "../notifications/send-message.js";
import {
  targetText,
  type Target,
  type TargetSecret,
} from "../notifications/target.js";
import { exampleNotice, type ExampleRule } from "./example-notice.js";
import { toMessage } from "./message-text.js";
import type { NoticeBody, NoticeEvent } from "./notice.js";
import { ObjectWatcher } from "./object-watcher.js";
import {
  NoticeSender,
  type NoticeSenderOptions,
  errorText,
  secretOf,
} from "./notice-sender.js";
import { LostServers } from "./lost-servers.js";
import { FollowedPools } from "./followed-pools.js";
import { PoolWatcher } from "./pool-watcher.js";
import { Reminders } from "./reminders.js";
import { toAlarmRule, type AlarmRule } from "./alarm-rule.js";
import { RuleState } from "./rule-state.js";
import { createNoticeDescriber } from "./notice-describer.js";
import {
  isOwnMetric,
  SERVER_TYPE,
  type ReadServerMetric,
} from "./server-metrics.js";
import { ServerWatcher, type AlarmServers } from "./server-watcher.js";

/** Rules with at least this duration accept metrics that are up to a minute old. */
const LONG_DURATION_SECONDS = 300;

interface AlarmsOptions {
  /** Which server sends notices. Default: this one. */
  readonly sending?: Pick<NoticeSenderOptions, "leases" | "pollMs">;
  readonly store: Pick<
    Store,
    "alarmRules" | "alarms" | "alarmNotices" | "engine" | "onChange"
  >;
  readonly queries: Pick<Queries, "live" | "metrics">;
  readonly catalog: Pick<Catalog, "get" | "poolOf" | "settled">;
  readonly listPools: () => readonly PoolSummary[];
  readonly mail: Config["mail"];
  readonly readServerMetric: ReadServerMetric;
  /** Absent: there is only one server. */
  readonly servers?: AlarmServers | undefined;
  /** URL of the page, for links in notices; ends with a slash. */
  readonly pageUrl: () => string | undefined;
  readonly clock: WallClock;
  readonly logger: Pick<Logger, "warn">;
}

/** Current state of a rule. */
interface RuleStatus {
  readonly open: number;
  /** Number of matching objects beyond the maximum of open alarms. */
  readonly omitted: number;
  /** Why the rule is not evaluated. */
  readonly problem?: string;
}

interface ActiveRule {
  readonly rule: AlarmRule;
  readonly state: RuleState;
  problem?: string;
}

/** Evaluates all alarm rules, records alarms and sends notices. */
export class Alarms {
  readonly #options: AlarmsOptions;
  readonly #writer: AlarmWriter;
  readonly #describe: (body: NoticeBody) => NoticeBody;
  readonly #sender: NoticeSender;
  readonly #reminders: Reminders;
  readonly #pools: FollowedPools;
  readonly #lostServers: LostServers;
  readonly #active = new Map<string, ActiveRule>();
  readonly #listeners = new Set<() => void>();
  readonly #unsubscribe: () => void;
  #applying: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: AlarmsOptions) {
    const { store, clock, logger } = options;
    this.#options = options;
    this.#describe = createNoticeDescriber(options);
    this.#sender = new NoticeSender({
      store,
      ...options.sending,
      clock,
      logger,
      sendMessage: createMessageSender(createMailSender(options.mail), clock),
      describe: this.#describe,
    });
    const onWritten = () => {
      this.#sender.wake();
      for (const listener of this.#listeners) listener();
    };
    this.#writer = new AlarmWriter({ store, clock, logger, onWritten });
    this.#reminders = new Reminders({ store, clock, logger, onWritten });
    this.#pools = new FollowedPools({
      ...options,
      onFollowed: (pool) => {
        for (const { state } of this.#active.values()) state.poolCurrent(pool);
      },
    });
    this.#lostServers = new LostServers({
      running: () => options.servers?.running() ?? [],
      onLost: () => this.#adoptAlarms(),
      clock,
    });
    this.#unsubscribe = store.onChange((table) => {
      if (table === "alarm_rules") void this.apply();
    });
  }

  /** Continues with the alarms that are open in the database. */
  async start(): Promise<void> {
    await this.#pools.start();
    await this.apply();
    this.#lostServers.start();
    await this.#sender.start();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#pools.stop();
    this.#lostServers.stop();
    this.#unsubscribe();
    await this.#applying;
    for (const { state } of this.#active.values()) state.stop();
    this.#active.clear();
    this.#reminders.stop();
    await this.#writer.stop();
    await this.#sender.stop();
  }

  /**
   * Calls the listener when alarms have changed.
   * @returns a function that unsubscribes
   */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  statusOf(ruleId: string): RuleStatus {
    const followed = this.#active.get(ruleId);
    if (followed === undefined) return { open: 0, omitted: 0 };
    const { state, problem } = followed;
    return { ...state.counts, ...(problem === undefined ? {} : { problem }) };
  }

  /**
   * Sends a test message to all targets of a rule.
   * @throws XoError NO_SUCH_OBJECT
   */
  async test(ruleId: string): Promise<readonly TestResult[]> {
    const { store } = this.#options;
    const stored = store.alarmRules.get(ruleId);
    if (stored === undefined)
      throw new XoError("NO_SUCH_OBJECT", { type: "alarm rule", id: ruleId });
    const rule = toAlarmRule(stored);
    return Promise.all(
      rule.targets.map((target) =>
        this.testTarget(
          rule,
          target,
          secretOf(store.alarmRules, ruleId, target.id),
        ),
      ),
    );
  }

  /** Sends a test message to one target, also of a rule that is not stored yet. */
  async testTarget(
    rule: ExampleRule,
    target: Target,
    secret: TargetSecret,
  ): Promise<TestResult> {
    const tested = { targetId: target.id, target: targetText(target) };
    const body = exampleNotice(rule, "test", this.#options.clock.now());
    try {
      await this.#sender.send(target, secret, { id: randomUUID(), body });
      return { ...tested, sent: true };
    } catch (error) {
      return { ...tested, sent: false, error: errorText(error) };
    }
  }

  /** Returns the message that a rule would send, with an example object. */
  preview(rule: ExampleRule, event: NoticeEvent): NotificationMessage {
    const body = exampleNotice(rule, event, this.#options.clock.now());
    return toMessage(this.#describe(body));
  }

  /** Applies the current rules. Never rejects. */
  apply(): Promise<void> {
    this.#applying = this.#applying
      .then(() => this.#apply())
      .catch((error: unknown) => {
        this.#options.logger.warn("alarm rules could not be read", {
          error,
        });
      });
    return this.#applying;
  }

  async #apply(): Promise<void> {
    if (this.#isStopped) return;
    const { alarmRules } = this.#options.store;
    const rules = new Map(
      Array.from(alarmRules.list(), toAlarmRule).map((rule) => [rule.id, rule]),
    );
    for (const id of [...this.#active.keys()])
      if (!rules.has(id)) this.#drop(id);
    const changed = [...rules.values()].filter(
      ({ id, updatedAt }) => this.#active.get(id)?.rule.updatedAt !== updatedAt,
    );
    if (changed.length === 0) return;
    const before = await this.#writer.load();
    for (const rule of changed) await this.#follow(rule, before);
    this.#reminders.follow([...rules.values()]);
  }

  /** Those that a server has left that does not run any more end with the others. */
  async #adoptAlarms(): Promise<void> {
    const open = await this.#writer.load();
    for (const [id, { rule, state }] of this.#active)
      if (rule.on.kind === "statistic" && isOwnMetric(rule.on.metric))
        state.adopt(open.get(id) ?? []);
  }

  #drop(id: string): void {
    this.#active.get(id)?.state.stop();
    this.#active.delete(id);
    this.#writer.drop(id);
  }

  async #follow(
    rule: AlarmRule,
    before: ReadonlyMap<string, readonly Alarm[]>,
  ): Promise<void> {
    const old = this.#active.get(rule.id);
    old?.state.stop();
    this.#active.delete(rule.id);
    const isOther =
      old !== undefined &&
      JSON.stringify(old.rule.on) !== JSON.stringify(rule.on);
    if (isOther || !rule.enabled) await this.#writer.clearAll(rule);
    if (!rule.enabled) return;
    const state = new RuleState(
      rule,
      isOther ? [] : (before.get(rule.id) ?? []),
      {
        writer: this.#writer,
        clock: this.#options.clock,
        poolOf: (id) => this.#options.catalog.poolOf(id),
        isCurrent: (pool) => this.#pools.isFollowed(pool),
      },
    );
    const followed: ActiveRule = { rule, state };
    this.#active.set(rule.id, followed);
    try {
      state.watch(await this.#watch(rule, state));
    } catch (error) {
      followed.problem = (error as Error).message;
    }
  }

  async #watch(rule: AlarmRule, state: RuleState): Promise<ConditionWatcher> {
    const { queries, catalog, listPools, clock } = this.#options;
    const { on } = rule;
    switch (on.kind) {
      case "statistic":
      case "object":
        if (on.kind === "statistic" && on.type === SERVER_TYPE)
          return ServerWatcher.start(on, state, {
            read: this.#options.readServerMetric,
            servers: this.#options.servers,
            clock,
          });
        return ObjectWatcher.start(on, state, {
          queries,
          catalog,
          isFollowed: (pool) => this.#pools.isFollowed(pool),
          acceptsOldMetrics: rule.forSeconds >= LONG_DURATION_SECONDS,
        });
      case "message":
      case "task":
        return EventRuleWatcher.start(on, state, { queries, catalog });
      case "pool":
        return new PoolWatcher(state, { listPools, clock });
    }
  }
}

/** Outcome of a test message to one target. */
interface TestResult {
  readonly targetId: string;
  /** Addresses, URL, or label and host. */
  readonly target: string;
  readonly sent: boolean;
  readonly error?: string;
}
