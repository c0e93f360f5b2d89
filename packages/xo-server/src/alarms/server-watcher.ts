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
  isOwnMetric,
  SERVER_TYPE,
  type ExplainedValue,
  type ReadServerMetric,
  type ServerMetric,
} from "./server-metrics.js";

const CHECK_MS = 10_000;
/** Key and name in alarms of what is the same for all servers of the database. */
const SERVER = "xo-server";
/** Start of the key of what each server has for itself; its name follows. */
const OWN = "xo-server ";

/** This server among those of the database. */
export interface AlarmServers {
  readonly self: string;
  /** Names of those that run, and of this one. */
  readonly running: () => readonly string[];
}

interface ServerWatcherOptions {
  readonly read: ReadServerMetric;
  /** Absent: there is only one server. */
  readonly servers?: AlarmServers | undefined;
  readonly clock: WallClock;
}

/** Compares a metric of the server itself with a threshold. */
export class ServerWatcher implements ConditionWatcher {
  readonly #condition: StatisticCondition;
  readonly #handler: MatchHandler;
  readonly #options: ServerWatcherOptions;
  readonly #key: string;
  readonly #name: string;
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
    const isOwn = isOwnMetric(condition.metric);
    this.#name = (isOwn ? options.servers?.self : undefined) ?? SERVER;
    this.#key = this.#name === SERVER ? SERVER : `${OWN}${this.#name}`;
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

  /** The disk of another server is none of this one's; what a server has left that does not run any more ends later. */
  unmatchedState(key: string): UnmatchedState {
    const { servers } = this.#options;
    if (servers === undefined || key === this.#key || !key.startsWith(OWN))
      return "ended";
    const name = key.slice(OWN.length);
    return servers.running().includes(name) ? "elsewhere" : "unknown";
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
      key: this.#key,
      type: SERVER_TYPE,
      name: this.#name,
      value,
      ...(text === undefined ? {} : { text }),
    };
    if (this.#isBeyond(value, threshold)) this.#handler.matched(match);
    else if (this.#isBeyond(value, clearThreshold(this.#condition)))
      this.#handler.inHysteresis(match);
    else this.#handler.cleared(this.#key);
  }

  #isBeyond(value: number, bound: number): boolean {
    return this.#condition.comparison === ">" ? value > bound : value < bound;
  }
}
