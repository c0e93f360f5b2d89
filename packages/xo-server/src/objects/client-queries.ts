import type { WallClock } from "@xo-server/kit";
import type { LiveRequest, Queries } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import type { Completeness } from "./completeness.js";
import { ClientQuery } from "./client-query.js";
import type { StatusSubscriber } from "../status/status-feed.js";
import type { Readable } from "./readable.js";
import { UpdateEncodings } from "./update-encodings.js";

/** The client's name of a query, and the objects that the client may read. */
interface ClientQueryTerms {
  readonly name: string;
  readonly readable: Readable;
  /** Resolves when the response to the opening was sent; absent: there is none. */
  readonly answered?: Promise<void> | undefined;
}

interface ClientQuerySources {
  readonly queries: Queries;
  readonly completeness: Pick<Completeness, "isComplete" | "onChange">;
  readonly clock: WallClock;
}

/** Maximum number of live queries of a client. */
const MAX_QUERIES = 64;

/** The live queries of all clients, by client and name. */
export class ClientQueries {
  readonly #sources: ClientQuerySources;
  readonly #encodings = new UpdateEncodings();
  readonly #clients = new Map<StatusSubscriber, Map<string, ClientQuery>>();

  constructor(sources: ClientQuerySources) {
    this.#sources = sources;
    sources.completeness.onChange(() => {
      for (const queries of this.#clients.values())
        for (const query of queries.values()) query.completenessChanged();
    });
  }

  /**
   * Opens a query. A query with the same name is closed first.
   * @returns the first update, encoded
   * @throws XoError INVALID_PARAMETERS
   */
  async open(
    client: StatusSubscriber,
    { name, readable, answered = Promise.resolve() }: ClientQueryTerms,
    request: LiveRequest,
  ): Promise<Buffer> {
    this.close(client, name);
    const mine = this.#clients.get(client) ?? new Map<string, ClientQuery>();
    if (mine.size >= MAX_QUERIES)
      throw new XoError("INVALID_PARAMETERS", {
        reason: `a client has at most ${MAX_QUERIES} live queries`,
        errors: [],
      });
    const query = new ClientQuery(request, {
      ...this.#sources,
      client,
      name,
      readable,
      encodings: this.#encodings,
      answered,
    });
    this.#clients.set(client, mine.set(name, query));
    try {
      return await query.open();
    } catch (error) {
      if (mine.get(name) === query) this.close(client, name);
      throw error;
    }
  }

  /** @throws XoError NO_SUCH_OBJECT, INVALID_PARAMETERS */
  async change(
    client: StatusSubscriber,
    name: string,
    changes: Partial<LiveRequest>,
  ): Promise<void> {
    const query = this.#clients.get(client)?.get(name);
    if (query === undefined)
      throw new XoError("NO_SUCH_OBJECT", { type: "query", id: name });
    await query.change(changes);
  }

  /** @returns false: the client has no query with this name */
  close(client: StatusSubscriber, name: string): boolean {
    const mine = this.#clients.get(client);
    const query = mine?.get(name);
    query?.close();
    mine?.delete(name);
    if (mine?.size === 0) this.#clients.delete(client);
    return query !== undefined;
  }

  /** To be called when the rights of the client may have changed. */
  renew(client: StatusSubscriber): void {
    for (const query of this.#clients.get(client)?.values() ?? [])
      query.renew();
  }

  /** To be called when the client has disconnected. */
  forget(client: StatusSubscriber): void {
    for (const query of this.#clients.get(client)?.values() ?? [])
      query.close();
    this.#clients.delete(client);
  }
}
