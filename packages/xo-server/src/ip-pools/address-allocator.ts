import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { ResourceSet, Store } from "@xo-server/store";
import { LocalReservations } from "../reservations/local-reservations.js";
import type {
  Reservation,
  Reservations,
} from "../reservations/reservations.js";
import { firstFree } from "./address-range.js";
import { rangesOf, type IpPool, type IpPools } from "./ip-pools.js";
import {
  readUsedAddresses,
  usedOf,
  type AddressSources,
  type UsedAddress,
} from "./used-addresses.js";

interface AddressAllocatorOptions extends AddressSources {
  readonly pools: Pick<IpPools, "list">;
  readonly store: Pick<Store, "resourceSets">;
  readonly clock: Pick<WallClock, "now">;
  /** Default: reservations of a single server. */
  readonly reservations?: Reservations<ReservedAddress>;
  /**
   * Waits until the mirror shows the current state of the pool of an object; false:
   * that failed. Default: resolves immediately.
   */
  readonly caughtUp?: (id: string) => Promise<boolean>;
}

/** An address for a new VIF. */
interface AllocatedAddress {
  readonly family: "ipv4" | "ipv6";
  readonly address: string;
  /** Releases the address, because the VIF was not created. */
  release(): Promise<void>;
}

/** Maximum time for which an address is reserved until the mirror shows its VIF, in ms. */
export const ADDRESS_RESERVATION_MS = 600_000;

/** An address that is reserved for a new VIF of a resource set. */
interface ReservedAddress extends UsedAddress {
  readonly setId: string;
  readonly family: "ipv4" | "ipv6";
}

/** Assigns free addresses of the IP pools of resource sets to new VIFs. */
export class AddressAllocator {
  readonly #options: AddressAllocatorOptions;
  readonly #held: Reservations<ReservedAddress>;

  constructor(options: AddressAllocatorOptions) {
    this.#options = options;
    this.#held = options.reservations ?? new LocalReservations(options.clock);
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
    const { pools, store, caughtUp } = this.#options;
    const set = store.resourceSets.get(setId);
    const usable = pools
      .list()
      .filter(
        ({ id, networks }) =>
          set?.ipPools.includes(id) === true && networks.includes(network),
      );
    if (set === undefined || usable.length === 0) return undefined;
    const made = await this.#held.reserve("addresses", {
      caughtUp: () => caughtUp?.(network) ?? Promise.resolve(true),
      read: async () => {
        const used = await readUsedAddresses(this.#options);
        return { used, keys: new Set(used.map(toKey)) };
      },
      isObsolete: (one, { keys }) => this.#isObsolete(one, keys),
      toBody: ({ used }, held) => {
        const all = [...used, ...held.map(({ body }) => body)];
        return { ...this.#firstFree(set, usable, all), network, vm: "", setId };
      },
    });
    const { family, address } = made.body;
    return { family, address, release: () => this.#held.drop(made) };
  }

  /** @throws XoError RESOURCES_EXHAUSTED */
  #firstFree(
    set: ResourceSet,
    pools: readonly IpPool[],
    all: readonly UsedAddress[],
  ): Pick<ReservedAddress, "family" | "address"> {
    for (const pool of pools) {
      const ofPool = usedOf(pool, all);
      if (this.#left(set, pool, ofPool) <= 0) continue;
      const taken = new Set(ofPool.map(({ address }) => address));
      for (const range of rangesOf(pool)) {
        const address = firstFree(range, taken);
        if (address !== undefined) return { family: range.family, address };
      }
    }
    throw new XoError("RESOURCES_EXHAUSTED", {
      resourceSet: set.id,
      resourceType: `ipPool:${pools[0]!.id}`,
      requested: 1,
      available: 0,
    });
  }

  /** Used part of the limits `ipPool:ID` of a set, by limit; reservations do not count. */
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

  #isObsolete(
    { madeAt, body }: Reservation<ReservedAddress>,
    used: ReadonlySet<string>,
  ): boolean {
    const oldest = this.#options.clock.now() - ADDRESS_RESERVATION_MS;
    return madeAt < oldest || used.has(toKey(body));
  }
}

function toKey({ network, address }: UsedAddress): string {
  return `${network} ${address}`;
}
