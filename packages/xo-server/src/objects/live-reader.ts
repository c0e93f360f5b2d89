import type {
  LiveQuery,
  LiveRequest,
  LiveUpdate,
  Predicate,
  Queries,
} from "@xo-server/inventory";
import type { Clock } from "../clock.js";
import type { StatusSubscriber } from "../status/status-feed.js";
import { joinObject } from "../encoding/raw-json.js";
import type { Readable } from "./readable.js";

/** A reader who did not keep up is told everything anew, when there is room. */
const RETRY_MS = 1000;

export interface LiveReaderOptions {
  readonly queries: Queries;
  readonly clock: Clock;
  readonly client: StatusSubscriber;
  /** What the client calls the query. */
  readonly name: string;
  readonly readable: Readable;
}

/**
 * One live query of one client. Updates go out as notifications `query`
 * {name, revision, ...}; nothing is queued here: when the client does not read,
 * the query is closed and begun again later, and the update says `reset`.
 */
export class LiveReader {
  readonly #options: LiveReaderOptions;
  #request: LiveRequest;
  #query: LiveQuery | undefined;
  /** What the query was begun with. */
  #where: Predicate | undefined;
  /** Counts what was begun: what an older one still brings is not told. */
  #begun = 0;
  #timer: unknown;
  #isClosed = false;

  constructor(request: LiveRequest, options: LiveReaderOptions) {
    this.#options = options;
    this.#request = request;
  }

  /** @returns the first update, encoded */
  async open(): Promise<Buffer> {
    const first = await this.#begin();
    return encodeUpdate(first);
  }

  /** The difference comes as a notification. */
  async change(news: Partial<LiveRequest>): Promise<void> {
    this.#request = { ...this.#request, ...news };
    if (this.#isAsAllowed()) await this.#query?.change(news);
    else this.#restart();
  }

  /** The client's rights may be others now: then it is told everything anew. */
  renew(): void {
    if (!this.#isAsAllowed()) this.#restart();
  }

  close(): void {
    this.#isClosed = true;
    this.#options.clock.clearTimeout(this.#timer);
    this.#query?.close();
    this.#query = undefined;
  }

  #isAsAllowed(): boolean {
    return this.#options.readable(this.#request.type) === this.#where;
  }

  async #begin(): Promise<LiveUpdate> {
    const begun = ++this.#begun;
    const where = this.#options.readable(this.#request.type);
    this.#where = where;
    const request =
      where === undefined ? this.#request : { ...this.#request, where };
    let first: LiveUpdate | undefined;
    const query = await this.#options.queries.live(request, (update) => {
      if (first === undefined) first = update;
      else if (begun === this.#begun) this.#tell(update, false);
    });
    if (this.#isClosed || begun !== this.#begun) query.close();
    else this.#query = query;
    return first!;
  }

  /** What may no longer be seen is not told any more from here on. */
  #restart(): void {
    if (this.#isClosed) return;
    this.#options.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#query?.close();
    this.#query = undefined;
    this.#beginAnew();
  }

  #tell(update: LiveUpdate, isReset: boolean): void {
    if (this.#isClosed || this.#timer !== undefined) return;
    const { client, name } = this.#options;
    if (client.trySend(encodeNotification(name, update, isReset))) return;
    this.#query?.close();
    this.#query = undefined;
    this.#retryLater();
  }

  #retryLater(): void {
    this.#timer = this.#options.clock.setTimeout(() => {
      this.#timer = undefined;
      if (!this.#isClosed) this.#beginAnew();
    }, RETRY_MS);
  }

  #beginAnew(): void {
    const begin = this.#begin();
    const begun = this.#begun;
    begin.then(
      (update) => {
        if (begun === this.#begun) this.#tell(update, true);
      },
      () => {
        if (begun === this.#begun && !this.#isClosed) this.#retryLater();
      },
    );
  }
}

/** Readers of the same window under the same name get the same bytes. */
const encoded = new WeakMap<LiveUpdate, Map<string, Buffer>>();

function encodeNotification(
  name: string,
  update: LiveUpdate,
  isReset: boolean,
): Buffer {
  const byDress = encoded.get(update) ?? new Map<string, Buffer>();
  encoded.set(update, byDress);
  const dress = `${isReset ? "reset" : ""}/${name}`;
  let message = byDress.get(dress);
  if (message === undefined) {
    const head = isReset ? { name, reset: true } : { name };
    message = joinObject({ jsonrpc: "2.0", method: "query" }, [
      ["params", encodeUpdate(update, head)],
    ]);
    byDress.set(dress, message);
  }
  return message;
}

function encodeUpdate(update: LiveUpdate, head: object = {}): Buffer {
  const { revision, total, offset, splice, digest } = update;
  const rest = { revision, total, offset, splice, digest };
  return joinObject({ ...head, ...rest }, [
    ["objects", joinObject({}, [...update.objects])],
    ["patches", joinObject({}, [...update.patches])],
  ]);
}
