import type { Server, Store } from "@xo-server/store";
import type { Logger } from "../log/logger.js";
import { toErrorSummary, type ErrorSummary } from "../status/error-summary.js";
import type { PoolSettings } from "./pool-settings.js";
import { toStoredSettings } from "./pool-settings.js";
import type { Pools } from "./pools.js";

interface StoredPoolsOptions {
  readonly servers: Store["servers"];
  readonly onForeignChange: Store["onForeignChange"];
  readonly pools: Pick<Pools, "connect" | "disconnect" | "created">;
  /** Called while a pool is connected again; see LoadedPools.hold. */
  readonly hold: () => () => void;
  /** Deletes the persisted endpoints of the pool of a removed server: addresses, fingerprints. */
  readonly deleteEndpoints: (id: string) => Promise<void>;
  readonly logger: Logger;
}

/** Pool connections that were added over the API and are stored in the database. */
export class StoredPools {
  readonly #options: StoredPoolsOptions;
  /** Changes of a connection are made one after another. */
  readonly #turns = new Map<string, Promise<unknown>>();

  /** Content of the servers as it was applied, by id. */
  readonly #applied = new Map<string, string>();
  #unsubscribe = () => undefined as unknown;

  /** Why servers are not being connected, by id. */
  readonly #problems = new Map<string, ErrorSummary>();

  constructor(options: StoredPoolsOptions) {
    this.#options = options;
  }

  /** Why a server is not being connected although it is enabled. */
  problemOf(id: string): ErrorSummary | undefined {
    return this.#problems.get(id);
  }

  /**
   * Connects all servers at the start. Unreadable secrets of one do not prevent the
   * others from being connected.
   */
  connectAll(): void {
    const { servers, pools, logger, onForeignChange } = this.#options;
    const settings: PoolSettings[] = [];
    for (const server of servers.list()) {
      this.#applied.set(server.id, contentOf(server));
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
    }
    pools.connect(settings);
    this.#unsubscribe = onForeignChange((table) => {
      if (table === "servers") this.#applyChanged();
    });
  }

  stop(): void {
    this.#unsubscribe();
  }

  /** Applies changes by another process on the same database, or by an import. */
  #applyChanged(): void {
    const { servers, logger } = this.#options;
    const stored = new Map(Array.from(servers.list(), (one) => [one.id, one]));
    const ids = new Set([...this.#applied.keys(), ...stored.keys()]);
    for (const id of ids) {
      const server = stored.get(id);
      const content = server && contentOf(server);
      if (this.#applied.get(id) === content) continue;
      this.apply(id).catch((error: unknown) => {
        this.#problems.set(id, toErrorSummary(error));
        logger.error(
          `${server?.label || server?.host || id} is not connected`,
          {
            error,
          },
        );
      });
    }
  }

  /** Makes the connection match the stored server. */
  async apply(id: string): Promise<void> {
    const before = this.#turns.get(id) ?? Promise.resolve();
    // The previous call has reported its own error.
    const turn = before.catch(() => undefined).then(() => this.#apply(id));
    this.#turns.set(id, turn);
    try {
      await turn;
    } finally {
      if (this.#turns.get(id) === turn) this.#turns.delete(id);
    }
  }

  async #apply(id: string): Promise<void> {
    const { servers, pools, hold } = this.#options;
    // Its objects are not known meanwhile, but were not deleted.
    const release = servers.get(id)?.enabled === true ? hold() : undefined;
    try {
      await this.#replace(id);
    } finally {
      void pools.created().finally(release);
    }
  }

  async #replace(id: string): Promise<void> {
    const { servers, pools } = this.#options;
    await pools.disconnect(id);
    this.#problems.delete(id);
    const server = servers.get(id);
    if (server === undefined) {
      this.#applied.delete(id);
      await this.#options.deleteEndpoints(id);
    }
    if (server !== undefined) this.#applied.set(id, contentOf(server));
    if (server?.enabled === true)
      pools.connect([toStoredSettings(server, servers.credentials(id))]);
  }
}

/** A change of the password changes `updatedAt`. */
function contentOf(server: Server): string {
  return JSON.stringify(server);
}
