import type { WallClock } from "@xo-server/kit";
import type {
  LiveQuery,
  LiveRequest,
  LiveUpdate,
  Predicate,
  Queries,
} from "@xo-server/inventory";
import type { StatusSubscriber } from "../status/status-feed.js";
import type { Completeness } from "./completeness.js";
import type { Readable } from "./readable.js";
import { encodeUpdate, type UpdateEncodings } from "./update-encodings.js";

/**
 * Maximum number of updates that wait until the first one was sent; above, the
 * query is opened again.
 */
const MAX_HELD = 100;

/** Time after which a client that did not read gets a full update, in ms. */
const RETRY_MS = 1000;

interface ClientQueryOptions {
  readonly queries: Queries;
  readonly completeness: Pick<Completeness, "isComplete">;
  readonly clock: WallClock;
  readonly client: StatusSubscriber;
  /** The client's name of the query. */
  readonly name: string;
  readonly readable: Readable;
  readonly encodings: UpdateEncodings;
  /** Resolves when the response to the opening was sent, so that no update overtakes it. */
  readonly answered: Promise<void>;
}

/**
 * One live query of one client. Updates are sent as notifications `query`
 * {name, revision, ...}. Nothing is queued: if the client does not read, the
 * query is closed and opened again later, and its first update has `reset`.
 * `complete` is in the first update if it is false, later when it has changed.
 */
export class ClientQuery {
  readonly #options: ClientQueryOptions;
  #request: LiveRequest;
  #query: LiveQuery | undefined;
  /** The predicate that the query was opened with. */
  #where: Predicate | undefined;
  /** Number of queries opened so far; updates of earlier ones are dropped. */
  #begun = 0;
  /** The last update, which contains the position of the window. */
  #last: LiveUpdate | undefined;
  /** Updates that arrived before the first one was sent; undefined afterwards. */
  #held: LiveUpdate[] | undefined;
  /** The last value of `complete` that was sent to the client. */
  #isComplete = true;
  #timer: unknown;
  #isClosed = false;

  constructor(request: LiveRequest, options: ClientQueryOptions) {
    this.#options = options;
    this.#request = request;
  }

  /**
   * Notifications begin when `answered` has resolved.
   * @returns the first update, encoded
   */
  async open(): Promise<Buffer> {
    const beginning = this.#begin();
    const begun = this.#begun;
    const first = await beginning;
    void this.#options.answered.then(() => {
      if (begun === this.#begun) this.#sendHeld();
    });
    return encodeUpdate(first, this.#completeness(true));
  }

  /** Changes the query. The difference is sent as a notification. */
  async change(changes: Partial<LiveRequest>): Promise<void> {
    this.#request = { ...this.#request, ...changes };
    if (this.#isAsAllowed()) await this.#query?.change(changes);
    else this.#restart();
  }

  /**
   * To be called when the rights of the client may have changed; if they have, a
   * full update is sent.
   */
  renew(): void {
    if (!this.#isAsAllowed()) this.#restart();
  }

  /** Sends an update without changes of rows. */
  completenessChanged(): void {
    const { completeness } = this.#options;
    if (this.#last === undefined) return;
    if (completeness.isComplete === this.#isComplete) return;
    const { revision, total, offset, digest } = this.#last;
    const nothing = { objects: new Map(), patches: new Map() };
    this.#take({ revision, total, offset, digest, ...nothing });
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
    this.#held = [];
    const where = this.#options.readable(this.#request.type);
    this.#where = where;
    const request =
      where === undefined ? this.#request : { ...this.#request, where };
    let first: LiveUpdate | undefined;
    const query = await this.#options.queries.live(request, (update) => {
      if (begun === this.#begun) this.#last = update;
      if (first === undefined) first = update;
      else if (begun === this.#begun) this.#take(update);
    });
    if (this.#isClosed || begun !== this.#begun) query.close();
    else this.#query = query;
    return first!;
  }

  /** From here on, objects that the client may no longer read are not sent. */
  #restart(): void {
    if (this.#isClosed) return;
    this.#options.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#query?.close();
    this.#query = undefined;
    this.#beginAgain();
  }

  /** Sends an update, unless the first one has not been sent yet. */
  #take(update: LiveUpdate): void {
    if (this.#held === undefined) this.#send(update, false);
    else if (this.#held.push(update) > MAX_HELD) this.#restart();
  }

  #sendHeld(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const update of held) this.#send(update, false);
  }

  #send(update: LiveUpdate, isReset: boolean): void {
    if (this.#isClosed || this.#timer !== undefined) return;
    const { client, encodings, name } = this.#options;
    const head = {
      name,
      ...(isReset ? { reset: true } : {}),
      ...this.#completeness(isReset),
    };
    if (client.trySend(encodings.encode(update, head))) return;
    this.#query?.close();
    this.#query = undefined;
    this.#retryLater();
  }

  /** The member `complete`, if it has changed for the client. */
  #completeness(isReset: boolean): { readonly complete?: boolean } {
    const before = isReset || this.#isComplete;
    const { isComplete } = this.#options.completeness;
    this.#isComplete = isComplete;
    return isComplete === before ? {} : { complete: isComplete };
  }

  #retryLater(): void {
    this.#timer = this.#options.clock.setTimeout(() => {
      this.#timer = undefined;
      if (!this.#isClosed) this.#beginAgain();
    }, RETRY_MS);
  }

  #beginAgain(): void {
    const begin = this.#begin();
    const begun = this.#begun;
    Promise.all([begin, this.#options.answered]).then(
      ([update]) => {
        if (begun !== this.#begun) return;
        this.#send(update, true);
        this.#sendHeld();
      },
      () => {
        if (begun === this.#begun && !this.#isClosed) this.#retryLater();
      },
    );
  }
}
