import type { Inventory } from "@xo-server/inventory";
import type { Logger } from "../log/logger.js";
import type { PoolWarning } from "../status/status.js";

/** What is known of a pool connection. */
interface Identity {
  readonly label: string;
  /** UUID of the pool that answers; undefined before the first connection. */
  uuid: string | undefined;
  /** UUID of the pool that answered before, if that was another one. */
  replacedUuid: string | undefined;
  hosts: ReadonlySet<string>;
  warnings: readonly PoolWarning[];
}

/**
 * Finds pool connections whose objects have the same UUIDs, of which only
 * those of one connection are shown: the same pool under two addresses, a copy
 * of a pool, or a host in two pools. Also notes that another pool answers at
 * the addresses of a connection.
 */
export class PoolConflicts {
  readonly #inventory: Pick<Inventory, "list">;
  readonly #logger: Logger;
  readonly #identities = new Map<string, Identity>();

  constructor(inventory: Pick<Inventory, "list">, logger: Logger) {
    this.#inventory = inventory;
    this.#logger = logger;
  }

  warningsOf(connection: string): readonly PoolWarning[] {
    return this.#identities.get(connection)?.warnings ?? [];
  }

  /**
   * To be called when the state of a connection or of its mirror has changed.
   * @param uuid of the pool that answers; undefined while none does
   */
  update(
    connection: { readonly id: string; readonly label: string },
    uuid: string | undefined,
    isListed: boolean,
  ): void {
    const { id, label } = connection;
    const identity = this.#identities.get(id) ?? {
      label,
      uuid: undefined,
      replacedUuid: undefined,
      hosts: new Set<string>(),
      warnings: [],
    };
    this.#identities.set(id, identity);
    // Before the listing the mirror has the pool that answered last.
    const mirrored = isListed ? undefined : this.#mirrored(id);
    for (const last of [identity.uuid, mirrored])
      if (uuid !== undefined && last !== undefined && uuid !== last)
        identity.replacedUuid = last;
    identity.uuid = uuid ?? identity.uuid;
    if (isListed) identity.hosts = this.#hostsOf(id);
    this.#refresh();
  }

  remove(connection: string): void {
    if (this.#identities.delete(connection)) this.#refresh();
  }

  /** Computes all warnings again, and logs new ones. */
  #refresh(): void {
    const byHost = new Map<string, Set<string>>();
    for (const [id, { hosts }] of this.#identities)
      for (const host of hosts)
        byHost.set(host, (byHost.get(host) ?? new Set()).add(id));
    for (const [id, identity] of this.#identities) {
      const before = new Set(identity.warnings.map(({ message }) => message));
      const sharing = new Set<string>();
      for (const host of identity.hosts)
        for (const other of byHost.get(host)!) sharing.add(other);
      identity.warnings = this.#warningsFor(id, identity, sharing);
      for (const { message } of identity.warnings)
        if (!before.has(message))
          this.#logger.warn(`${identity.label}: ${message}`);
    }
  }

  /** @param sharing connections with some of its hosts */
  #warningsFor(
    id: string,
    { uuid, replacedUuid }: Identity,
    sharing: ReadonlySet<string>,
  ): PoolWarning[] {
    const warnings: PoolWarning[] = [];
    if (replacedUuid !== undefined && uuid !== undefined)
      warnings.push({
        code: "POOL_REPLACED",
        message: `another pool answers at this address: ${uuid} instead of ${replacedUuid}`,
        data: { uuid, previous: replacedUuid },
      });
    for (const [otherId, other] of this.#identities) {
      if (otherId === id) continue;
      const pool = other.label;
      if (uuid !== undefined && uuid === other.uuid)
        warnings.push({
          code: "SAME_POOL",
          message: `has the same UUID as ${pool}: the same pool under another address, or a copy of it; objects of only one of them are shown`,
          data: { pool },
        });
      else if (sharing.has(otherId))
        warnings.push({
          code: "SAME_HOSTS",
          message: `has hosts with the same UUIDs as ${pool}; objects of only one of them are shown`,
          data: { pool },
        });
    }
    return warnings;
  }

  #mirrored(connection: string): string | undefined {
    for (const { uuid } of this.#inventory.list("pool", { poolId: connection }))
      return uuid;
    return undefined;
  }

  #hostsOf(connection: string): ReadonlySet<string> {
    const uuids = new Set<string>();
    for (const { uuid } of this.#inventory.list("host", { poolId: connection }))
      if (uuid !== undefined) uuids.add(uuid);
    return uuids;
  }
}
