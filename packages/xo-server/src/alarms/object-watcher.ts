import type {
  Catalog,
  LiveQuery,
  Queries,
  ViewObject,
} from "@xo-server/inventory";
import { endsAt, nowMetricIndex, toLiveRequest } from "./condition-filter.js";
import type { Finding, Findings, Standing, Watcher } from "./finding.js";
import { LiveWindow } from "./live-window.js";
import type { Condition, StatisticCondition } from "./rule.js";

type Objects = Extract<Condition, { kind: "statistic" | "object" }>;

export interface ObjectWatcherOptions {
  readonly queries: Pick<Queries, "live" | "metrics">;
  readonly catalog: Pick<Catalog, "get">;
  /** Is the pool of this name followed now? */
  readonly isFollowed: (pool: string) => boolean;
}

/** Follows the objects for which a filter holds, or whose number is beyond a threshold: a live query, which tells what differs. */
export class ObjectWatcher implements Watcher {
  readonly #options: ObjectWatcherOptions;
  readonly #condition: Objects;
  readonly #findings: Findings;
  readonly #window = new LiveWindow();
  #query: LiveQuery | undefined;
  #isStopped = false;

  private constructor(
    condition: Objects,
    findings: Findings,
    options: ObjectWatcherOptions,
  ) {
    this.#condition = condition;
    this.#findings = findings;
    this.#options = options;
  }

  /** What is found at once is told before it resolves. @throws XoError FILTER_INVALID, INVALID_PARAMETERS */
  static async start(
    condition: Objects,
    findings: Findings,
    options: ObjectWatcherOptions,
  ): Promise<ObjectWatcher> {
    const watcher = new ObjectWatcher(condition, findings, options);
    const request = toLiveRequest(condition);
    const query = await options.queries.live(request, (update) => {
      if (watcher.#isStopped) return;
      const { set, gone } = watcher.#window.apply(update);
      for (const id of gone) findings.away(id);
      for (const object of set) watcher.#look(object);
    });
    watcher.#query = query;
    return watcher;
  }

  standing(key: string, { pool }: Finding): Standing {
    const entry = this.#options.catalog.get(key);
    if (entry === undefined)
      return pool === undefined || this.#options.isFollowed(pool)
        ? "ended"
        : "unknown";
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

  #look(object: ViewObject): void {
    const about = this.#toFinding(object);
    if (this.#condition.kind === "object") {
      this.#findings.holds(about);
      return;
    }
    const value = valueOf(object, this.#condition);
    const finding = { ...about, value };
    if (isBeyond(value, this.#condition, this.#condition.threshold))
      this.#findings.holds(finding);
    else if (isBeyond(value, this.#condition, endsAt(this.#condition)))
      this.#findings.hovers(finding);
    else this.#findings.away(about.key);
  }

  #toFinding(object: ViewObject): Finding {
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

/** NaN where there is none: nothing is beyond it. */
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
