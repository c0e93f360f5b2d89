import { XoError } from "@xo-server/model";
import type { Store } from "@xo-server/store";
import type { Pools } from "./pools.js";
import type { StoredPools } from "./stored-pools.js";

/** How a pool is signed in to, for a host that is to join it. */
export interface PoolDoor {
  /** `address` or `address:port`. */
  readonly address: string;
  readonly user: string;
  readonly password: string;
}

export interface PoolDoorsOptions {
  readonly pools: Pick<Pools, "credentials" | "disconnect" | "list">;
  readonly servers: Pick<Store["servers"], "get" | "update">;
  readonly stored: Pick<StoredPools, "apply">;
}

/** Pools as other pools see them, by the id of the connection. */
export class PoolDoors {
  readonly #options: PoolDoorsOptions;

  constructor(options: PoolDoorsOptions) {
    this.#options = options;
  }

  /**
   * @param master address of the coordinator, as its pool knows it
   * @throws XoError NOT_CONNECTED, CONFIG_INVALID
   */
  async doorOf(connection: string, master: string): Promise<PoolDoor> {
    const { pools } = this.#options;
    const status = pools.list().find(({ id }) => id === connection);
    if (status === undefined)
      throw new XoError("NOT_CONNECTED", { pool: connection });
    const [, port] = /:(\d+)\/?$/.exec(status.address) ?? [];
    const isUsual = port === undefined || port === "443" || port === "80";
    const address = isUsual ? master : `${master.replace(/:\d+$/, "")}:${port}`;
    return { address, ...(await pools.credentials(connection)) };
  }

  /**
   * What was a pool is none any more: it is not connected to, nor at the next
   * start, unless config.yaml says so.
   */
  async letGo(connection: string): Promise<void> {
    const { pools, servers, stored } = this.#options;
    if (servers.get(connection) === undefined) {
      await pools.disconnect(connection);
      return;
    }
    await servers.update(connection, { enabled: false });
    await stored.apply(connection);
  }
}
