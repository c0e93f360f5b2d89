import type {
  Catalog,
  LiveQuery,
  Queries,
  ViewObject,
} from "@xo-server/inventory";
import {
  clearThreshold,
  nowMetricIndex,
  toLiveRequest,
} from "./condition-filter.js";
import type {
  Match,
  MatchHandler,
  UnmatchedState,
  ConditionWatcher,
} from "./match.js";
import { QueryWindow } from "./query-window.js";
import type { Condition, StatisticCondition } from "./alarm-rule.js";

type Objects = Extract<Condition, { kind: "statistic" | "object" }>;

interface ObjectWatcherOptions {
  readonly queries: Pick<Queries, "live" | "metrics">;
  readonly catalog: Pick<Catalog, "poolOf">;
  /** Whether objects of the pool are current. */
  readonly isFollowed: (pool: string) => boolean;
  /** Metrics may be a minute old. */
  readonly acceptsOldMetrics: boolean;
}

/** Evaluates a filter or a threshold for objects by a live query. */
export class ObjectWatcher implements ConditionWatcher {
  readonly #options: ObjectWatcherOptions;
  readonly #condition: Objects;
  readonly #handler: MatchHandler;
  readonly #window = new QueryWindow();
  #query: LiveQuery | undefined;
  #isStopped = false;

  private constructor(
    condition: Objects,
    handler: MatchHandler,
    options: ObjectWatcherOptions,
  ) {
    this.#condition = condition;
    this.#handler = handler;
    this.#options = options;
  }

  /**
   * Reports current matches before it resolves.
   * @throws XoError FILTER_INVALID, INVALID_PARAMETERS
   */
  static async start(
    condition: Objects,
    handler: MatchHandler,
    options: ObjectWatcherOptions,
  ): Promise<ObjectWatcher> {
    const watcher = new ObjectWatcher(condition, handler, options);
    const { acceptsOldMetrics } = options;
    const request = { ...toLiveRequest(condition), acceptsOldMetrics };
    const query = await options.queries.live(request, (update) => {
      if (watcher.#isStopped) return;
      const { set, removed } = watcher.#window.apply(update);
      for (const id of removed) handler.cleared(id);
      for (const object of set) watcher.#evaluate(object);
    });
    watcher.#query = query;
    return watcher;
  }

  unmatchedState(key: string, { pool }: Match): UnmatchedState {
    const { catalog, isFollowed } = this.#options;
    const current = catalog.poolOf(key);
    const of = current ?? pool;
    if (of !== undefined && !isFollowed(of)) return "unknown";
    if (current === undefined) return "ended";
    if (this.#condition.kind === "object") return "ended";
    const { type, metric } = this.#condition;
    const index = nowMetricIndex(metric);
    if (index < 0) return "ended";
    const value = this.#options.queries.metrics(type).get(key, index);
    return Number.isNaN(value) ? "unknown" : "ended";
  }

  stop(): void {
    this.#isStopped = true;
    this.#query?.close();
  }

  #evaluate(object: ViewObject): void {
    const about = this.#toMatch(object);
    if (this.#condition.kind === "object") {
      this.#handler.matched(about);
      return;
    }
    const value = valueOf(object, this.#condition);
    const match = { ...about, value };
    if (isBeyond(value, this.#condition, this.#condition.threshold))
      this.#handler.matched(match);
    else if (isBeyond(value, this.#condition, clearThreshold(this.#condition)))
      this.#handler.inHysteresis(match);
    else this.#handler.cleared(about.key);
  }

  #toMatch(object: ViewObject): Match {
    const { id, name_label: name } = object;
    const key = String(id);
    return {
      key,
      objectId: key,
      type: this.#condition.type,
      name: typeof name === "string" && name !== "" ? name : key,
    };
  }
}

function isBeyond(
  value: number,
  { comparison }: StatisticCondition,
  bound: number,
): boolean {
  return comparison === ">" ? value > bound : value < bound;
}

/** NaN without a value, which never matches. */
function valueOf(
  object: ViewObject,
  { metric, of }: StatisticCondition,
): number {
  const value = numberAt(object, metric);
  return of === undefined ? value : value / numberAt(object, of);
}

function numberAt(object: ViewObject, path: string): number {
  let at: unknown = object;
  for (const name of path.split("."))
    at =
      typeof at === "object" && at !== null && Object.hasOwn(at, name)
        ? (at as Readonly<Record<string, unknown>>)[name]
        : undefined;
  if (typeof at === "number") return at;
  return typeof at === "string" && at.trim() !== "" ? Number(at) : NaN;
}
