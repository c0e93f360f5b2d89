import type { Catalog, ViewTable } from "@xo-server/inventory";
import type { Pools } from "../pools/pools.js";
import type { StatsHost } from "./fetch-measurements.js";

interface Seen {
  readonly revision: number;
  /** Undefined: the host cannot be polled. */
  readonly source: Pick<StatsHost, "id" | "pool" | "address"> | undefined;
}

/** Running hosts of connected pools, updated incrementally. */
export class LiveHosts {
  readonly #catalog: Pick<Catalog, "follow">;
  readonly #pools: Pick<Pools, "listSummaries" | "xapi">;
  readonly #seen = new Map<string, Seen>();

  constructor(
    catalog: Pick<Catalog, "follow">,
    pools: Pick<Pools, "listSummaries" | "xapi">,
  ) {
    this.#catalog = catalog;
    this.#pools = pools;
  }

  async list(): Promise<readonly StatsHost[]> {
    const table = await this.#catalog.follow("host");
    const connected = new Set(
      this.#pools
        .listSummaries()
        .filter(({ state }) => state === "watching" || state === "re-listing")
        .map(({ id }) => id),
    );
    const hosts: StatsHost[] = [];
    const ids = new Set<string>();
    for (let row = 0; row < table.rows; row++) {
      if (!table.isLive(row)) continue;
      const id = table.id(row);
      ids.add(id);
      const source = this.#read(table, row, id);
      const pool = table.pool(row);
      if (source === undefined || !connected.has(pool)) continue;
      hosts.push({ ...source, xapi: this.#pools.xapi(pool) });
    }
    for (const id of this.#seen.keys()) if (!ids.has(id)) this.#seen.delete(id);
    return hosts;
  }

  #read(table: ViewTable, row: number, id: string): Seen["source"] {
    const revision = table.revision(row);
    const seen = this.#seen.get(id);
    if (seen?.revision === revision) return seen.source;
    let source: Seen["source"];
    table.readRow(row, (host) => {
      const address = host.value(["address"]);
      const isUp = host.value(["power_state"]) === "Running";
      if (isUp && typeof address === "string")
        source = { id, pool: String(host.value(["$pool"])), address };
    });
    this.#seen.set(id, { revision, source });
    return source;
  }
}
