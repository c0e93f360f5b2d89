import { XoError } from "@xo-server/model";
import type { Store } from "@xo-server/store";
import type { Pools } from "./pools.js";
import type { StoredPools } from "./stored-pools.js";

/** Address and credentials of a pool, for a host that joins it. */
export interface PoolAddress {
  /** `address` or `address:port`. */
  readonly address: string;
  readonly user: string;
  readonly password: string;
}

interface PoolCredentialsOptions {
  readonly pools: Pick<Pools, "credentials" | "disconnect" | "list">;
  readonly servers: Pick<Store["servers"], "get" | "update">;
  readonly stored: Pick<StoredPools, "apply">;
}

/** Credentials of pools for other pools, by the id of the connection. */
export class PoolCredentials {
  readonly #options: PoolCredentialsOptions;

  constructor(options: PoolCredentialsOptions) {
    this.#options = options;
  }

  /**
   * @param master address of the coordinator, as its pool knows it
   * @throws XoError NOT_CONNECTED, CONFIG_INVALID
   */
  async addressOf(connection: string, master: string): Promise<PoolAddress> {
    const { pools } = this.#options;
    const status = pools.list().find(({ id }) => id === connection);
    if (status === undefined)
      throw new XoError("NOT_CONNECTED", { pool: connection });
    const [, port] = /:(\d+)\/?$/.exec(status.address) ?? [];
    const isUsual = port === undefined || port === "443" || port === "80";
    const address = isUsual ? master : `${master.replace(/:\d+$/, "")}:${port}`;
    return { address, ...(await pools.credentials(connection)) };
  }

  /** Disconnects a pool whose host has joined another one, and disables its stored server. */
  async disconnectAndDisable(connection: string): Promise<void> {
    const { pools, servers, stored } = this.#options;
    if (servers.get(connection) === undefined) {
      await pools.disconnect(connection);
      return;
    }
    await servers.update(connection, { enabled: false });
    await stored.apply(connection);
  }
}
