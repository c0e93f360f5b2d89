import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { ResourceSet, Store } from "@xo-server/store";
import { firstFree } from "./address-range.js";
import { rangesOf, type IpPool, type IpPools } from "./ip-pools.js";
import {
  readUsedAddresses,
  usedOf,
  type AddressSources,
  type UsedAddress,
} from "./used-addresses.js";

export interface AddressAllocatorOptions extends AddressSources {
  readonly pools: Pick<IpPools, "list">;
  readonly store: Pick<Store, "resourceSets">;
  readonly clock: Pick<WallClock, "now">;
}

/** An address for a new VIF. */
export interface AllocatedAddress {
  readonly family: "ipv4" | "ipv6";
  readonly address: string;
}

/** An address is held until the mirror shows its VIF, at most this long, in ms. */
const HELD_MS = 600_000;

interface Held extends UsedAddress {
  readonly setId: string;
  readonly at: number;
}

/** Assigns free addresses of the IP pools of resource sets to new VIFs. */
export class AddressAllocator {
  readonly #options: AddressAllocatorOptions;
  readonly #held = new Set<Held>();

  constructor(options: AddressAllocatorOptions) {
    this.#options = options;
  }

  /**
   * An address for a VIF on a network.
   * @param setId the resource set of the VM
   * @returns undefined: no IP pool of the set is for this network
   * @throws XoError RESOURCES_EXHAUSTED: no address is free, or the limit
   *   `ipPool:ID` of the set is reached
   */
  async allocate(
    setId: string,
    network: string,
  ): Promise<AllocatedAddress | undefined> {
    const { pools, store, clock } = this.#options;
    const set = store.resourceSets.get(setId);
    const usable = pools
      .list()
      .filter(
        ({ id, networks }) =>
          set?.ipPools.includes(id) === true && networks.includes(network),
      );
    if (set === undefined || usable.length === 0) return undefined;
    const used = await readUsedAddresses(this.#options);
    // No await from here on, so that concurrent calls see the reservation.
    this.#dropSeen(used);
    const all = [...used, ...this.#held];
    for (const pool of usable) {
      const ofPool = usedOf(pool, all);
      if (this.#left(set, pool, ofPool) <= 0) continue;
      const taken = new Set(ofPool.map(({ address }) => address));
      for (const range of rangesOf(pool)) {
        const address = firstFree(range, taken);
        if (address === undefined) continue;
        this.#held.add({ address, network, vm: "", setId, at: clock.now() });
        return { family: range.family, address };
      }
    }
    throw new XoError("RESOURCES_EXHAUSTED", {
      resourceSet: setId,
      resourceType: `ipPool:${usable[0]!.id}`,
      requested: 1,
      available: 0,
    });
  }

  /** Use of the limits `ipPool:ID` of a set, by limit; reservations do not count. */
  async usage(set: ResourceSet): Promise<ReadonlyMap<string, number>> {
    const limited = this.#options.pools
      .list()
      .filter(({ id }) => Object.hasOwn(set.limits, `ipPool:${id}`));
    if (limited.length === 0) return new Map();
    const used = await readUsedAddresses(this.#options);
    return new Map(
      limited.map((pool) => [
        `ipPool:${pool.id}`,
        this.#ofSet(set.id, usedOf(pool, used)).length,
      ]),
    );
  }

  /** The VIF was not created. */
  giveBack(network: string, address: string): void {
    for (const one of this.#held)
      if (one.network === network && one.address === address)
        this.#held.delete(one);
  }

  /** Number of addresses of a pool that the limit of the set allows. */
  #left(
    { id, limits }: ResourceSet,
    pool: IpPool,
    used: readonly UsedAddress[],
  ): number {
    const name = `ipPool:${pool.id}`;
    if (!Object.hasOwn(limits, name)) return Infinity;
    return limits[name]! - this.#ofSet(id, used).length;
  }

  #ofSet(
    setId: string,
    used: readonly (UsedAddress & { readonly setId?: string })[],
  ): readonly UsedAddress[] {
    return used.filter(
      (one) => one.setId === setId || this.#setOf(one.vm) === setId,
    );
  }

  #setOf(vm: string): unknown {
    const json = this.#options.catalog.get(vm)?.json;
    if (json === undefined) return undefined;
    return (JSON.parse(json.toString()) as { resourceSet?: unknown })
      .resourceSet;
  }

  #dropSeen(used: readonly UsedAddress[]): void {
    const seen = new Set(used.map(toKey));
    const oldest = this.#options.clock.now() - HELD_MS;
    for (const one of this.#held)
      if (seen.has(toKey(one)) || one.at < oldest) this.#held.delete(one);
  }
}

function toKey({ network, address }: UsedAddress): string {
  return `${network} ${address}`;
}
