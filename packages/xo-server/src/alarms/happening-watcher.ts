import {
  formatFilter,
  parseFilter,
  type Catalog,
  type LiveQuery,
  type LiveRequest,
  type Queries,
  type ViewObject,
} from "@xo-server/inventory";
import type { Finding, Findings, Standing, Watcher } from "./finding.js";
import { LiveWindow } from "./live-window.js";
import type { Condition } from "./rule.js";

type Happenings = Extract<Condition, { kind: "message" | "task" }>;

export interface HappeningWatcherOptions {
  readonly queries: Pick<Queries, "live">;
  readonly catalog: Pick<Catalog, "get">;
}

/** The newest that are looked at: of more that come at once, the older ones are passed over. */
const NEWEST = 500;

/** Follows what pools tell of, the newest first: messages, tasks that fail. */
export class HappeningWatcher implements Watcher {
  readonly #catalog: Pick<Catalog, "get">;
  readonly #condition: Happenings;
  readonly #findings: Findings;
  readonly #window = new LiveWindow();
  #query: LiveQuery | undefined;
  #isStopped = false;

  private constructor(
    condition: Happenings,
    findings: Findings,
    { catalog }: HappeningWatcherOptions,
  ) {
    this.#condition = condition;
    this.#findings = findings;
    this.#catalog = catalog;
  }

  /** @throws XoError FILTER_INVALID */
  static async start(
    condition: Happenings,
    findings: Findings,
    options: HappeningWatcherOptions,
  ): Promise<HappeningWatcher> {
    const watcher = new HappeningWatcher(condition, findings, options);
    const request = toRequest(condition);
    const query = await options.queries.live(request, (update) => {
      if (watcher.#isStopped) return;
      for (const object of watcher.#window.apply(update).set)
        watcher.#tell(object);
    });
    watcher.#query = query;
    return watcher;
  }

  standing(): Standing {
    return "ended";
  }

  stop(): void {
    this.#isStopped = true;
    this.#query?.close();
  }

  #tell(happening: ViewObject): void {
    const { time, finished, created } = happening;
    const seconds = [time, finished, created].find(
      (one) => typeof one === "number",
    );
    const finding =
      this.#condition.kind === "message"
        ? this.#ofMessage(happening)
        : this.#ofTask(happening);
    this.#findings.happened(finding, 1000 * ((seconds as number) || 0));
  }

  #ofMessage({ id, name, body, $object, $pool }: ViewObject): Finding {
    const text = [name, body].filter(Boolean).join(": ");
    return { ...this.#about([$object, $pool]), key: String(id), text };
  }

  #ofTask({ id, name_label, result, applies_to, $pool }: ViewObject): Finding {
    const text = [name_label, result].filter(Boolean).join(": ");
    return { ...this.#about([applies_to, $pool]), key: String(id), text };
  }

  /** The first of these that is an object here. */
  #about(ids: readonly unknown[]): Omit<Finding, "key"> {
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

function toRequest({ kind, filter }: Happenings): LiveRequest {
  const own = parseFilter(filter ?? "");
  const failed = parseFilter(kind === "task" ? "status:/^failure$/" : "");
  return {
    type: kind,
    filter: formatFilter({ kind: "and", terms: [own, failed] }),
    sort: [{ by: kind === "message" ? "time" : "finished", descending: true }],
    offset: 0,
    limit: NEWEST,
  };
}
