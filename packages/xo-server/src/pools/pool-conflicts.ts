import type { Inventory } from "@xo-server/inventory";
import type { Logger } from "../log/logger.js";
import type { PoolWarning } from "../status/status.js";

/** What is known about a pool connection. */
interface Identity {
  readonly label: string;
  /** UUID of the pool that answers; undefined before the first connection. */
  uuid: string | undefined;
  /** UUID of the pool that answered previously, if another pool answers now. */
  replacedUuid: string | undefined;
  hosts: ReadonlySet<string>;
  warnings: readonly PoolWarning[];
}

/**
 * Finds pool connections whose objects have the same UUIDs: the same pool under two
 * addresses, a copy of a pool, or a host in two pools. Only the objects of one of
 * these connections are shown. Also detects that another pool answers at the
 * addresses of a connection.
 */
export class PoolConflicts {
  readonly #inventory: Pick<Inventory, "list">;
  readonly #logger: Logger;
  readonly #identities = new Map<string, Identity>();
  /** Connections by the UUIDs of their pools and hosts. */
  readonly #owners = new Map<string, Set<string>>();

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
    const before = keyOf(identity);
    const uuids = uuidsOf(identity);
    // Before the listing, the mirror contains the pool that answered last.
    const mirrored = isListed ? undefined : this.#mirrored(id);
    for (const last of [identity.uuid, mirrored])
      if (uuid !== undefined && last !== undefined && uuid !== last)
        identity.replacedUuid = last;
    identity.uuid = uuid ?? identity.uuid;
    if (isListed) identity.hosts = this.#hostsOf(id);
    // States change often, identities rarely.
    if (keyOf(identity) !== before)
      this.#changeUuids(id, uuids, uuidsOf(identity));
  }

  remove(connection: string): void {
    const identity = this.#identities.get(connection);
    if (identity === undefined) return;
    this.#identities.delete(connection);
    this.#changeUuids(connection, uuidsOf(identity), []);
  }

  /** Computes the warnings of all connections again that have or had one of these UUIDs. */
  #changeUuids(
    id: string,
    before: readonly string[],
    after: readonly string[],
  ): void {
    for (const uuid of before) this.#owners.get(uuid)?.delete(id);
    for (const uuid of after)
      this.#owners.set(uuid, (this.#owners.get(uuid) ?? new Set()).add(id));
    const concerned = new Set([id]);
    for (const uuid of [...before, ...after]) {
      const owners = this.#owners.get(uuid);
      if (owners?.size === 0) this.#owners.delete(uuid);
      for (const owner of owners ?? []) concerned.add(owner);
    }
    for (const one of concerned) this.#refresh(one);
  }

  /** New warnings are logged. */
  #refresh(id: string): void {
    const identity = this.#identities.get(id);
    if (identity === undefined) return;
    const before = new Set(identity.warnings.map(({ message }) => message));
    const others = new Set<string>();
    for (const uuid of uuidsOf(identity))
      for (const other of this.#owners.get(uuid) ?? [])
        if (other !== id) others.add(other);
    identity.warnings = this.#warningsFor(identity, others);
    for (const { message } of identity.warnings)
      if (!before.has(message))
        this.#logger.warn(`${identity.label}: ${message}`);
  }

  /** @param others connections with the same UUIDs, of the pool or of hosts */
  #warningsFor(
    { uuid, replacedUuid }: Identity,
    others: ReadonlySet<string>,
  ): PoolWarning[] {
    const warnings: PoolWarning[] = [];
    if (replacedUuid !== undefined && uuid !== undefined)
      warnings.push({
        code: "POOL_REPLACED",
        message: `another pool answers at this address: ${uuid} instead of ${replacedUuid}`,
        data: { uuid, previous: replacedUuid },
      });
    for (const otherId of others) {
      const other = this.#identities.get(otherId)!;
      const pool = other.label;
      if (uuid !== undefined && uuid === other.uuid)
        warnings.push({
          code: "SAME_POOL",
          message: `has the same UUID as ${pool}: the same pool under another address, or a copy of it; objects of only one of them are shown`,
          data: { pool },
        });
      else
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

function uuidsOf({ uuid, hosts }: Identity): string[] {
  return uuid === undefined ? [...hosts] : [uuid, ...hosts];
}

/** Key of the properties on which warnings depend. */
function keyOf(identity: Identity): string {
  return `${identity.replacedUuid} ${uuidsOf(identity).join(" ")} ${identity.uuid}`;
}
