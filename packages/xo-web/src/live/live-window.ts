import { isObject, applyMergePatch, type Json } from "@xo-server/kit";
import { withPlainName } from "../api/plain-name.js";
import { NoAnswerError, RpcError } from "../api/rpc-error.js";
import type { Call } from "../api/server-connection.js";

export interface SortKey {
  /** A path, such as `name_label` or `now.cpu`. */
  readonly by: string;
  readonly descending?: boolean;
}

/** The query, and the part of its result that is followed. */
export interface WindowRequest {
  /** The type of the objects: `VM`, `host`... */
  readonly type: string;
  readonly filter?: string;
  /** Only these objects, at most 1,000. */
  readonly ids?: readonly string[];
  /** Words, each of which must occur in a name, description, address or tag. */
  readonly search?: string;
  readonly sort?: readonly SortKey[];
  /** Top-level fields and `now.cpu`...; default: the whole object, without `now`. */
  readonly fields?: readonly string[];
  readonly offset: number;
  readonly limit: number;
}

/** loading: before the first answer; stale: disconnected, with the last known rows. */
export type WindowState = "loading" | "live" | "stale" | "refused";

export interface WindowView {
  readonly rows: readonly Json[];
  /** Position of the first row in the whole result. */
  readonly offset: number;
  readonly total: number | undefined;
  /** False: a pool is still being loaded, there may be more objects. */
  readonly isComplete: boolean;
  readonly state: WindowState;
  /** The error of the server, in the state `refused`. */
  readonly error: string | undefined;
}

export const emptyView: WindowView = {
  rows: [],
  offset: 0,
  total: undefined,
  isComplete: true,
  state: "loading",
  error: undefined,
};

interface LiveWindowOptions {
  /** Unique on the connection. */
  readonly name: string;
  readonly call: Call;
  readonly onView: (view: WindowView) => void;
}

/**
 * One window of a live query (query.open). A row that did not change stays the same
 * object. Requests may come faster than the server answers: the last one is sent.
 */
export class LiveWindow {
  readonly #options: LiveWindowOptions;
  #view = emptyView;
  #requested: WindowRequest | undefined;
  /** The last request that was answered or refused. */
  #settled: WindowRequest | undefined;
  /** The request that the server follows; undefined: none. */
  #sent: WindowRequest | undefined;
  #isBusy = false;
  #isOpening = false;
  #isConnected = false;
  /** Counts connections. */
  #generation = 0;
  #ids: string[] = [];
  #objects = new Map<string, Json>();

  constructor(options: LiveWindowOptions) {
    this.#options = options;
  }

  /** @param requested undefined: closes the query and clears the rows */
  request(requested: WindowRequest | undefined): void {
    const before = this.#requested;
    this.#requested = requested;
    if (requested === undefined || before?.type !== requested.type)
      this.#clear();
    void this.#settle();
  }

  /** Call it for each connection with a signed-in user. */
  connected(): void {
    this.#generation++;
    this.#isConnected = true;
    this.#sent = this.#settled = undefined;
    this.#isBusy = this.#isOpening = false;
    void this.#settle();
  }

  disconnected(): void {
    this.#generation++;
    this.#isConnected = this.#isBusy = this.#isOpening = false;
    this.#sent = undefined;
    if (this.#view.state === "live") this.#show({ state: "stale" });
  }

  /** Call it for each notification `query`, of any window. */
  notified(params: Json): void {
    if (!isObject(params) || params["name"] !== this.#options.name) return;
    // A notification before the answer to query.open belongs to the previous query.
    if (!this.#isOpening && this.#sent !== undefined) this.#take(params);
  }

  close(): void {
    this.request(undefined);
  }

  async #settle(): Promise<void> {
    if (this.#isBusy || !this.#isConnected) return;
    this.#isBusy = true;
    const generation = this.#generation;
    while (
      generation === this.#generation &&
      this.#requested !== this.#settled
    ) {
      const requested = this.#requested;
      const isAnswered = await this.#send(requested, generation);
      if (isAnswered && generation === this.#generation)
        this.#settled = requested;
    }
    if (generation === this.#generation) this.#isBusy = false;
  }

  /** @returns false: the server did not answer in time, and is to be asked again */
  async #send(
    requested: WindowRequest | undefined,
    generation: number,
  ): Promise<boolean> {
    const { call, name } = this.#options;
    const sent = this.#sent;
    try {
      if (requested === undefined) await this.#closeQuery();
      else if (sent !== undefined && canChange(sent, requested)) {
        await call("query.change", changeFor(name, sent, requested));
        if (generation === this.#generation) this.#sent = requested;
      } else await this.#open(requested, generation);
    } catch (error) {
      if (error instanceof NoAnswerError) return false;
      if (generation === this.#generation) this.#failed(error);
    }
    return true;
  }

  /** Closes the query on the server. */
  async #closeQuery(): Promise<void> {
    const { call, name } = this.#options;
    if (this.#sent === undefined) return;
    this.#sent = undefined;
    // Without a connection the server has closed the query.
    await call("query.close", { name }).catch(() => undefined);
  }

  async #open(requested: WindowRequest, generation: number): Promise<void> {
    const { call, name } = this.#options;
    this.#isOpening = true;
    try {
      const update = await call("query.open", {
        name,
        ...(requested as unknown as Record<string, Json>),
      });
      if (generation !== this.#generation) return;
      this.#sent = requested;
      if (isObject(update)) this.#take({ ...update, reset: true });
    } finally {
      if (generation === this.#generation) this.#isOpening = false;
    }
  }

  #failed(error: unknown): void {
    // After a lost connection `connected` sends the request again.
    if (!(error instanceof RpcError)) return;
    // The previous query would continue otherwise.
    void this.#closeQuery();
    this.#ids = [];
    this.#objects.clear();
    this.#show({
      rows: [],
      total: undefined,
      state: "refused",
      error: error.message,
    });
  }

  #take(update: Readonly<Record<string, Json>>): void {
    if (this.#requested === undefined) return;
    if (update["reset"] === true) this.#ids = [];
    const { splice, objects, patches, offset, total, complete } = update;
    const wasComplete = update["reset"] === true || this.#view.isComplete;
    if (isObject(splice) && Array.isArray(splice["insert"]))
      this.#ids.splice(
        Number(splice["at"]),
        Number(splice["remove"]),
        ...(splice["insert"] as string[]),
      );
    for (const [id, object] of entriesOf(objects))
      this.#objects.set(
        id,
        mergeWhole(this.#objects.get(id), withPlainName(object)),
      );
    for (const [id, patch] of entriesOf(patches))
      this.#objects.set(
        id,
        applyMergePatch(this.#objects.get(id), withPlainName(patch)),
      );
    const kept = new Map<string, Json>();
    for (const id of this.#ids) kept.set(id, this.#objects.get(id) ?? { id });
    this.#objects = kept;
    this.#show({
      rows: [...kept.values()],
      offset: typeof offset === "number" ? offset : 0,
      total: typeof total === "number" ? total : undefined,
      isComplete: typeof complete === "boolean" ? complete : wasComplete,
      state: "live",
      error: undefined,
    });
  }

  #clear(): void {
    this.#ids = [];
    this.#objects.clear();
    this.#view = emptyView;
    this.#options.onView(emptyView);
  }

  #show(news: Partial<WindowView>): void {
    this.#view = { ...this.#view, ...news };
    this.#options.onView(this.#view);
  }
}

function canChange(sent: WindowRequest, requested: WindowRequest): boolean {
  return (
    sent.type === requested.type &&
    sent.fields?.join() === requested.fields?.join() &&
    (sent.ids === undefined) === (requested.ids === undefined) &&
    // query.change cannot remove a parameter.
    (sent.filter === undefined) === (requested.filter === undefined) &&
    (sent.search === undefined) === (requested.search === undefined) &&
    (sent.sort === undefined) === (requested.sort === undefined)
  );
}

const changeable = [
  "filter",
  "ids",
  "search",
  "sort",
  "offset",
  "limit",
] as const;

function changeFor(
  name: string,
  sent: WindowRequest,
  requested: WindowRequest,
): Json {
  const changes: Record<string, Json> = { name };
  for (const key of changeable)
    if (JSON.stringify(sent[key]) !== JSON.stringify(requested[key]))
      changes[key] = requested[key] as Json;
  return changes;
}

/** Keeps the object if its content is equal, so that it is not rendered again. */
function mergeWhole(before: Json | undefined, after: Json): Json {
  if (before === undefined) return after;
  return JSON.stringify(before) === JSON.stringify(after) ? before : after;
}

function entriesOf(value: Json | undefined): [string, Json][] {
  return isObject(value) ? Object.entries(value) : [];
}
