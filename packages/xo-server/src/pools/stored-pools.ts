import type { Store } from "@xo-server/store";
import type { Logger } from "../log/logger.js";
import { toErrorSummary, type ErrorSummary } from "../status/error-summary.js";
import type { PoolSettings } from "./pool-settings.js";
import { toStoredSettings } from "./pool-settings.js";
import type { Pools } from "./pools.js";

export interface StoredPoolsOptions {
  readonly servers: Store["servers"];
  readonly pools: Pick<Pools, "connect" | "disconnect">;
  readonly logger: Logger;
}

/** Pool connections that were added over the API and are stored in the database. */
export class StoredPools {
  readonly #options: StoredPoolsOptions;
  /** Changes of each connection: one after another. */
  readonly #turns = new Map<string, Promise<unknown>>();

  /** Why servers are not even being connected. */
  readonly #problems = new Map<string, ErrorSummary>();

  constructor(options: StoredPoolsOptions) {
    this.#options = options;
  }

  /** Why it is not being connected, although it should. */
  problemOf(id: string): ErrorSummary | undefined {
    return this.#problems.get(id);
  }

  /**
   * Connects all at the start. One with unreadable secrets does not keep the
   * others from being connected.
   */
  connectAll(): void {
    const { servers, pools, logger } = this.#options;
    const settings: PoolSettings[] = [];
    for (const server of servers.list())
      try {
        if (server.enabled)
          settings.push(
            toStoredSettings(server, servers.credentials(server.id)),
          );
      } catch (error) {
        this.#problems.set(server.id, toErrorSummary(error));
        logger.error(`${server.label || server.host} is not connected`, {
          error,
        });
      }
    pools.connect(settings);
  }

  /** Makes the connection match the stored server. */
  async apply(id: string): Promise<void> {
    const before = this.#turns.get(id) ?? Promise.resolve();
    const turn = before.catch(() => undefined).then(() => this.#apply(id));
    this.#turns.set(id, turn);
    try {
      await turn;
    } finally {
      if (this.#turns.get(id) === turn) this.#turns.delete(id);
    }
  }

  async #apply(id: string): Promise<void> {
    const { servers, pools } = this.#options;
    await pools.disconnect(id);
    this.#problems.delete(id);
    const server = servers.get(id);
    if (server?.enabled === true)
      pools.connect([toStoredSettings(server, servers.credentials(id))]);
  }
}
