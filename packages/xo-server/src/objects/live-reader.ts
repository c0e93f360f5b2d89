import type {
  LiveQuery,
  LiveRequest,
  LiveUpdate,
  Queries,
} from "@xo-server/inventory";
import type { Clock } from "../clock.js";
import type { StatusSubscriber } from "../status/status-feed.js";
import { joinObject } from "../doors/raw-json.js";

/** A reader who did not keep up is told everything anew, when there is room. */
const RETRY_MS = 1000;

export interface LiveReaderOptions {
  readonly queries: Queries;
  readonly clock: Clock;
  readonly client: StatusSubscriber;
  /** What the client calls the query. */
  readonly name: string;
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
    await this.#query?.change(news);
  }

  close(): void {
    this.#isClosed = true;
    this.#options.clock.clearTimeout(this.#timer);
    this.#query?.close();
    this.#query = undefined;
  }

  async #begin(): Promise<LiveUpdate> {
    let first: LiveUpdate | undefined;
    const query = await this.#options.queries.live(this.#request, (update) => {
      if (first === undefined) first = update;
      else this.#tell(update, false);
    });
    if (this.#isClosed) query.close();
    else this.#query = query;
    return first!;
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
      if (this.#isClosed) return;
      this.#begin().then(
        (update) => {
          this.#tell(update, true);
        },
        () => {
          this.#retryLater();
        },
      );
    }, RETRY_MS);
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
