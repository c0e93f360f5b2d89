import { randomUUID } from "node:crypto";
import { XoError } from "@xo-server/model";
import type { Store } from "@xo-server/store";
import { parseRange, sizeOf, type AddressRange } from "./address-range.js";

/** Addresses that VMs on some networks may use. */
export interface IpPool {
  readonly id: string;
  readonly name: string;
  /** Ids of networks. */
  readonly networks: readonly string[];
  /** Addresses, ranges and networks, as the administrator typed them. */
  readonly addresses: readonly string[];
}

type NewIpPool = Omit<IpPool, "id">;

const PREFIX = "ip-pool/";
const MAX_POOLS = 200;

/** The IP pools of the database. */
export class IpPools {
  readonly #store: Pick<Store, "settings">;

  constructor(store: Pick<Store, "settings">) {
    this.#store = store;
  }

  list(): IpPool[] {
    return Array.from(this.#store.settings.list(PREFIX), ([key, value]) => ({
      ...(value as NewIpPool),
      id: key.slice(PREFIX.length),
    }));
  }

  /** @throws XoError NO_SUCH_OBJECT */
  get(id: string): IpPool {
    const value = this.#store.settings.get(PREFIX + id);
    if (value === undefined)
      throw new XoError("NO_SUCH_OBJECT", { type: "IP pool", id });
    return { ...(value as NewIpPool), id };
  }

  /** @throws XoError INVALID_PARAMETERS, LIMIT_REACHED */
  async create(pool: NewIpPool): Promise<string> {
    checkAddresses(pool.addresses);
    if (this.list().length >= MAX_POOLS)
      throw new XoError("LIMIT_REACHED", {
        limit: MAX_POOLS,
        what: "IP pools",
      });
    const id = randomUUID();
    await this.#store.settings.set(PREFIX + id, pool);
    return id;
  }

  /** @throws XoError NO_SUCH_OBJECT, INVALID_PARAMETERS */
  async set(id: string, changes: Partial<NewIpPool>): Promise<void> {
    const { name, networks, addresses } = this.get(id);
    const pool = { name, networks, addresses, ...changes };
    checkAddresses(pool.addresses);
    await this.#store.settings.set(PREFIX + id, pool);
  }

  /** @throws XoError NO_SUCH_OBJECT */
  async delete(id: string): Promise<void> {
    this.get(id);
    await this.#store.settings.delete(PREFIX + id);
  }
}

/** @throws XoError INVALID_PARAMETERS */
export function rangesOf({
  addresses,
}: Pick<IpPool, "addresses">): AddressRange[] {
  return addresses.map(parseRange);
}

/** @throws XoError INVALID_PARAMETERS: not an address, or ranges that overlap */
function checkAddresses(addresses: readonly string[]): void {
  const ranges = rangesOf({ addresses });
  const sorted = ranges.toSorted((a, b) =>
    a.family === b.family
      ? Number(a.first > b.first) - Number(a.first < b.first)
      : a.family.localeCompare(b.family),
  );
  for (const [i, range] of sorted.entries()) {
    const next = sorted[i + 1];
    if (next?.family === range.family && next.first <= range.last)
      throw new XoError("INVALID_PARAMETERS", {
        reason: `${addresses[ranges.indexOf(range)]} and ${addresses[ranges.indexOf(next)]} overlap`,
      });
  }
}

/** Number of addresses of a pool. */
export function totalOf(pool: Pick<IpPool, "addresses">): number {
  const total = rangesOf(pool).reduce((sum, range) => sum + sizeOf(range), 0n);
  return Number(total);
}
