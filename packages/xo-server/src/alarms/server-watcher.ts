import type { WallClock } from "@xo-server/kit";
import { clearThreshold } from "./condition-filter.js";
import type {
  ConditionWatcher,
  Match,
  MatchHandler,
  UnmatchedState,
} from "./match.js";
import type { StatisticCondition } from "./alarm-rule.js";
import {
  SERVER_TYPE,
  type ExplainedValue,
  type ReadServerMetric,
  type ServerMetric,
} from "./server-metrics.js";

const CHECK_MS = 10_000;
/** Key and name of the server in alarms. */
const SERVER = "xo-server";

export interface ServerWatcherOptions {
  readonly read: ReadServerMetric;
  readonly clock: WallClock;
}

/** Compares a metric of the server itself with a threshold. */
export class ServerWatcher implements ConditionWatcher {
  readonly #condition: StatisticCondition;
  readonly #handler: MatchHandler;
  readonly #options: ServerWatcherOptions;
  #timer: unknown;
  #isStopped = false;

  private constructor(
    condition: StatisticCondition,
    handler: MatchHandler,
    options: ServerWatcherOptions,
  ) {
    this.#condition = condition;
    this.#handler = handler;
    this.#options = options;
  }

  /** Compares the first value before it resolves. */
  static async start(
    condition: StatisticCondition,
    handler: MatchHandler,
    options: ServerWatcherOptions,
  ): Promise<ServerWatcher> {
    const watcher = new ServerWatcher(condition, handler, options);
    await watcher.#check();
    return watcher;
  }

  unmatchedState(): UnmatchedState {
    return "ended";
  }

  stop(): void {
    this.#isStopped = true;
    this.#options.clock.clearTimeout(this.#timer);
  }

  async #check(): Promise<void> {
    const { read, clock } = this.#options;
    const found = await read(this.#condition.metric as ServerMetric);
    const { value, text }: ExplainedValue =
      typeof found === "number" ? { value: found } : found;
    if (this.#isStopped) return;
    this.#timer = clock.setTimeout(() => void this.#check(), CHECK_MS);
    const { threshold } = this.#condition;
    const match: Match = {
      key: SERVER,
      type: SERVER_TYPE,
      name: SERVER,
      value,
      ...(text === undefined ? {} : { text }),
    };
    if (this.#isBeyond(value, threshold)) this.#handler.matched(match);
    else if (this.#isBeyond(value, clearThreshold(this.#condition)))
      this.#handler.inHysteresis(match);
    else this.#handler.cleared(SERVER);
  }

  #isBeyond(value: number, bound: number): boolean {
    return this.#condition.comparison === ">" ? value > bound : value < bound;
  }
}
