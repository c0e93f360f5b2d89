import {
  formatFilter,
  parseFilter,
  type Catalog,
  type LiveQuery,
  type LiveRequest,
  type Queries,
  type ViewObject,
} from "@xo-server/inventory";
import type {
  Match,
  MatchHandler,
  UnmatchedState,
  ConditionWatcher,
} from "./match.js";
import { QueryWindow } from "./query-window.js";
import type { Condition } from "./alarm-rule.js";

type EventCondition = Extract<Condition, { kind: "message" | "task" }>;

interface EventRuleWatcherOptions {
  readonly queries: Pick<Queries, "live">;
  readonly catalog: Pick<Catalog, "get">;
}

/**
 * Size of the window of events. If more arrive at once, older ones are missed.
 */
const WINDOW_SIZE = 500;

/** Follows events of pools, newest first: messages and failed tasks. */
export class EventRuleWatcher implements ConditionWatcher {
  readonly #catalog: Pick<Catalog, "get">;
  readonly #condition: EventCondition;
  readonly #handler: MatchHandler;
  readonly #window = new QueryWindow();
  #query: LiveQuery | undefined;
  #isStopped = false;

  private constructor(
    condition: EventCondition,
    handler: MatchHandler,
    { catalog }: EventRuleWatcherOptions,
  ) {
    this.#condition = condition;
    this.#handler = handler;
    this.#catalog = catalog;
  }

  /** @throws XoError FILTER_INVALID */
  static async start(
    condition: EventCondition,
    handler: MatchHandler,
    options: EventRuleWatcherOptions,
  ): Promise<EventRuleWatcher> {
    const watcher = new EventRuleWatcher(condition, handler, options);
    const request = toRequest(condition);
    const query = await options.queries.live(request, (update) => {
      if (watcher.#isStopped) return;
      for (const object of watcher.#window.apply(update).set)
        watcher.#report(object);
    });
    watcher.#query = query;
    return watcher;
  }

  unmatchedState(): UnmatchedState {
    return "ended";
  }

  stop(): void {
    this.#isStopped = true;
    this.#query?.close();
  }

  #report(object: ViewObject): void {
    const { time, finished, created } = object;
    const seconds = [time, finished, created].find(
      (one) => typeof one === "number",
    );
    const match =
      this.#condition.kind === "message"
        ? this.#ofMessage(object)
        : this.#ofTask(object);
    this.#handler.occurred(match, 1000 * ((seconds as number) || 0));
  }

  #ofMessage({ id, name, body, $object, $pool }: ViewObject): Match {
    const text = [name, body].filter(Boolean).join(": ");
    return { ...this.#about([$object, $pool]), key: String(id), text };
  }

  #ofTask({ id, name_label, result, applies_to, $pool }: ViewObject): Match {
    const text = [name_label, result].filter(Boolean).join(": ");
    return { ...this.#about([applies_to, $pool]), key: String(id), text };
  }

  /** The first of these ids that belongs to a known object. */
  #about(ids: readonly unknown[]): Omit<Match, "key"> {
    for (const id of ids) {
      const entry = typeof id === "string" ? this.#catalog.get(id) : undefined;
      if (entry === undefined) continue;
      const object = JSON.parse(entry.json.toString()) as ViewObject;
      const name = object["name_label"];
      return {
        objectId: entry.id,
        type: entry.type,
        pool: entry.pool,
        name: typeof name === "string" && name !== "" ? name : entry.id,
      };
    }
    return { type: this.#condition.kind, name: this.#condition.kind };
  }
}

function toRequest({ kind, filter }: EventCondition): LiveRequest {
  const own = parseFilter(filter ?? "");
  const failed = parseFilter(kind === "task" ? "status:/^failure$/" : "");
  return {
    type: kind,
    filter: formatFilter({ kind: "and", terms: [own, failed] }),
    sort: [{ by: kind === "message" ? "time" : "finished", descending: true }],
    offset: 0,
    limit: WINDOW_SIZE,
  };
}
