import type { WallClock } from "@xo-server/kit";
import type { LiveRequest, Queries } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import type { Completeness } from "./completeness.js";
import { LiveQuerySubscription } from "./live-query-subscription.js";
import type { StatusSubscriber } from "../status/status-feed.js";
import type { Readable } from "./readable.js";

/** The client's name of a query, and the objects that the client may read. */
export interface LiveQueryTerms {
  readonly name: string;
  readonly readable: Readable;
  /** Resolves when the response to the opening was sent; absent: there is none. */
  readonly answered?: Promise<void> | undefined;
}

export interface LiveQuerySources {
  readonly queries: Queries;
  readonly completeness: Pick<Completeness, "isComplete" | "onChange">;
  readonly clock: WallClock;
}

/** Maximum number of live queries of a client. */
const MAX_QUERIES = 64;

/** The live queries of all clients, by client and name. */
export class LiveQuerySubscriptions {
  readonly #sources: LiveQuerySources;
  readonly #clients = new Map<
    StatusSubscriber,
    Map<string, LiveQuerySubscription>
  >();

  constructor(sources: LiveQuerySources) {
    this.#sources = sources;
    sources.completeness.onChange(() => {
      for (const readers of this.#clients.values())
        for (const reader of readers.values()) reader.completenessChanged();
    });
  }

  /**
   * Opens a query. A query with the same name is closed first.
   * @returns the first update, encoded
   * @throws XoError INVALID_PARAMETERS
   */
  async open(
    client: StatusSubscriber,
    { name, readable, answered = Promise.resolve() }: LiveQueryTerms,
    request: LiveRequest,
  ): Promise<Buffer> {
    this.close(client, name);
    const mine =
      this.#clients.get(client) ?? new Map<string, LiveQuerySubscription>();
    if (mine.size >= MAX_QUERIES)
      throw new XoError("INVALID_PARAMETERS", {
        reason: `a client has at most ${MAX_QUERIES} live queries`,
        errors: [],
      });
    const reader = new LiveQuerySubscription(request, {
      ...this.#sources,
      client,
      name,
      readable,
      answered,
    });
    this.#clients.set(client, mine.set(name, reader));
    try {
      return await reader.open();
    } catch (error) {
      if (mine.get(name) === reader) this.close(client, name);
      throw error;
    }
  }

  /** @throws XoError NO_SUCH_OBJECT, INVALID_PARAMETERS */
  async change(
    client: StatusSubscriber,
    name: string,
    changes: Partial<LiveRequest>,
  ): Promise<void> {
    const reader = this.#clients.get(client)?.get(name);
    if (reader === undefined)
      throw new XoError("NO_SUCH_OBJECT", { type: "query", id: name });
    await reader.change(changes);
  }

  /** @returns false: the client has no query with this name */
  close(client: StatusSubscriber, name: string): boolean {
    const mine = this.#clients.get(client);
    const reader = mine?.get(name);
    reader?.close();
    mine?.delete(name);
    if (mine?.size === 0) this.#clients.delete(client);
    return reader !== undefined;
  }

  /** To be called when the rights of the client may have changed. */
  renew(client: StatusSubscriber): void {
    for (const reader of this.#clients.get(client)?.values() ?? [])
      reader.renew();
  }

  /** To be called when the client has disconnected. */
  forget(client: StatusSubscriber): void {
    for (const reader of this.#clients.get(client)?.values() ?? [])
      reader.close();
    this.#clients.delete(client);
  }
}
