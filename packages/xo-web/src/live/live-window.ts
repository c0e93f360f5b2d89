import { isObject, applyMergePatch, type Json } from "@xo-server/kit";
import { RpcError } from "../api/rpc-error.js";
import type { Call } from "../api/server-connection.js";

export interface SortKey {
  /** A path, such as `name_label` or `now.cpu`. */
  readonly by: string;
  readonly descending?: boolean;
}

/** Which objects, in which order, and which of them. */
export interface WindowRequest {
  /** As objects call it: `VM`, `host`... */
  readonly type: string;
  readonly filter?: string;
  /** None but these, at most 1,000: found at once among however many. */
  readonly ids?: readonly string[];
  /** Words: each stands in a name, description, address, tag... */
  readonly search?: string;
  readonly sort?: readonly SortKey[];
  /** Top-level fields and `now.cpu`...; default: the whole object, without `now`. */
  readonly fields?: readonly string[];
  readonly offset: number;
  readonly limit: number;
}

/** loading: nothing came yet; stale: the server is gone, and this is what was known. */
export type WindowState = "loading" | "live" | "stale" | "refused";

export interface WindowView {
  readonly rows: readonly Json[];
  /** Place of the first row in the whole result. */
  readonly offset: number;
  readonly total: number | undefined;
  readonly state: WindowState;
  /** The server's words, when it refused. */
  readonly error: string | undefined;
}

export const emptyView: WindowView = {
  rows: [],
  offset: 0,
  total: undefined,
  state: "loading",
  error: undefined,
};

export interface LiveWindowOptions {
  /** No other window of this connection has it. */
  readonly name: string;
  readonly call: Call;
  readonly onView: (view: WindowView) => void;
}

/**
 * One window on the server's objects, kept up to date (query.open). A row that
 * nothing happened to stays the same object. Wishes may come faster than the
 * server answers: the last one holds.
 */
export class LiveWindow {
  readonly #options: LiveWindowOptions;
  #view = emptyView;
  #wanted: WindowRequest | undefined;
  /** The wish that was dealt with last, also by being refused. */
  #settled: WindowRequest | undefined;
  /** What the server has been told last; undefined: it follows nothing for us. */
  #told: WindowRequest | undefined;
  #isBusy = false;
  #isOpening = false;
  #isConnected = false;
  /** Counts connections. */
  #epoch = 0;
  #ids: string[] = [];
  #objects = new Map<string, Json>();

  constructor(options: LiveWindowOptions) {
    this.#options = options;
  }

  /** @param wanted undefined: nothing any more; what was shown goes */
  request(wanted: WindowRequest | undefined): void {
    const before = this.#wanted;
    this.#wanted = wanted;
    if (wanted === undefined || before?.type !== wanted.type) this.#clear();
    void this.#settle();
  }

  /** For each connection on which somebody has signed in. */
  connected(): void {
    this.#epoch++;
    this.#isConnected = true;
    this.#told = this.#settled = undefined;
    this.#isBusy = this.#isOpening = false;
    void this.#settle();
  }

  disconnected(): void {
    this.#epoch++;
    this.#isConnected = this.#isBusy = this.#isOpening = false;
    this.#told = undefined;
    if (this.#view.state === "live") this.#tell({ state: "stale" });
  }

  /** A notification `query`, of any window. */
  notified(params: Json): void {
    if (!isObject(params) || params["name"] !== this.#options.name) return;
    // What comes before the answer to an opening belongs to the one before.
    if (!this.#isOpening && this.#told !== undefined) this.#take(params);
  }

  close(): void {
    this.request(undefined);
  }

  async #settle(): Promise<void> {
    if (this.#isBusy || !this.#isConnected) return;
    this.#isBusy = true;
    const epoch = this.#epoch;
    while (epoch === this.#epoch && this.#wanted !== this.#settled) {
      const wanted = this.#wanted;
      await this.#ask(wanted, epoch);
      if (epoch === this.#epoch) this.#settled = wanted;
    }
    if (epoch === this.#epoch) this.#isBusy = false;
  }

  async #ask(wanted: WindowRequest | undefined, epoch: number): Promise<void> {
    const { call, name } = this.#options;
    const told = this.#told;
    try {
      if (wanted === undefined) await this.#leave();
      else if (told !== undefined && canChange(told, wanted)) {
        await call("query.change", changeFor(name, told, wanted));
        if (epoch === this.#epoch) this.#told = wanted;
      } else await this.#open(wanted, epoch);
    } catch (error) {
      if (epoch === this.#epoch) this.#failed(error);
    }
  }

  /** The server need not follow anything for us any more. */
  async #leave(): Promise<void> {
    const { call, name } = this.#options;
    if (this.#told === undefined) return;
    this.#told = undefined;
    await call("query.close", { name }).catch(() => undefined);
  }

  async #open(wanted: WindowRequest, epoch: number): Promise<void> {
    const { call, name } = this.#options;
    this.#isOpening = true;
    try {
      const update = await call("query.open", {
        name,
        ...(wanted as unknown as Record<string, Json>),
      });
      if (epoch !== this.#epoch) return;
      this.#told = wanted;
      if (isObject(update)) this.#take({ ...update, reset: true });
    } finally {
      if (epoch === this.#epoch) this.#isOpening = false;
    }
  }

  #failed(error: unknown): void {
    // Where the connection went, a new one begins anew.
    if (!(error instanceof RpcError)) return;
    // What it was asked for before would go on otherwise.
    void this.#leave();
    this.#ids = [];
    this.#objects.clear();
    this.#tell({
      rows: [],
      total: undefined,
      state: "refused",
      error: error.message,
    });
  }

  #take(update: Readonly<Record<string, Json>>): void {
    if (this.#wanted === undefined) return;
    if (update["reset"] === true) this.#ids = [];
    const { splice, objects, patches, offset, total } = update;
    if (isObject(splice) && Array.isArray(splice["insert"]))
      this.#ids.splice(
        Number(splice["at"]),
        Number(splice["remove"]),
        ...(splice["insert"] as string[]),
      );
    for (const [id, object] of entriesOf(objects))
      this.#objects.set(id, mergeWhole(this.#objects.get(id), object));
    for (const [id, patch] of entriesOf(patches))
      this.#objects.set(id, applyMergePatch(this.#objects.get(id), patch));
    const kept = new Map<string, Json>();
    for (const id of this.#ids) kept.set(id, this.#objects.get(id) ?? { id });
    this.#objects = kept;
    this.#tell({
      rows: [...kept.values()],
      offset: typeof offset === "number" ? offset : 0,
      total: typeof total === "number" ? total : undefined,
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

  #tell(news: Partial<WindowView>): void {
    this.#view = { ...this.#view, ...news };
    this.#options.onView(this.#view);
  }
}

function canChange(told: WindowRequest, wanted: WindowRequest): boolean {
  return (
    told.type === wanted.type &&
    told.fields?.join() === wanted.fields?.join() &&
    (told.ids === undefined) === (wanted.ids === undefined) &&
    // What was set cannot be unset by a change.
    (told.filter === undefined) === (wanted.filter === undefined) &&
    (told.search === undefined) === (wanted.search === undefined) &&
    (told.sort === undefined) === (wanted.sort === undefined)
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
  told: WindowRequest,
  wanted: WindowRequest,
): Json {
  const changes: Record<string, Json> = { name };
  for (const key of changeable)
    if (JSON.stringify(told[key]) !== JSON.stringify(wanted[key]))
      changes[key] = wanted[key] as Json;
  return changes;
}

/** What is as it was stays the same object, so that it is not drawn anew. */
function mergeWhole(before: Json | undefined, after: Json): Json {
  return JSON.stringify(before) === JSON.stringify(after) ? before! : after;
}

function entriesOf(value: Json | undefined): [string, Json][] {
  return isObject(value) ? Object.entries(value) : [];
}
