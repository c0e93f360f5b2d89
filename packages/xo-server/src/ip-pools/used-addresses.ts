import type { Catalog, Queries, ViewObject } from "@xo-server/inventory";
import { canonicalAddress, contains } from "./address-range.js";
import { rangesOf, type IpPool } from "./ip-pools.js";

export interface AddressSources {
  readonly catalog: Pick<Catalog, "follow" | "get">;
  readonly queries: Pick<Queries, "page">;
}

/** An address that a VIF may use. */
export interface UsedAddress {
  /** In canonical form. */
  readonly address: string;
  readonly network: string;
  /** Id of the VM. */
  readonly vm: string;
}

/** VIFs per step of a slice. */
const PAGE = 200;

/**
 * Reads the allowed addresses of all VIFs. Used addresses are not stored, but
 * derived from the objects.
 */
export async function readUsedAddresses({
  catalog,
  queries,
}: AddressSources): Promise<UsedAddress[]> {
  await catalog.follow("VIF");
  const used: UsedAddress[] = [];
  let after: string | undefined;
  do {
    const page = await queries.page({
      type: "VIF",
      filter: "|(allowedIpv4Addresses? allowedIpv6Addresses?)",
      sort: [],
      limit: PAGE,
      ...(after === undefined ? {} : { after }),
    });
    for (const row of page.rows)
      used.push(...addressesOf(JSON.parse(row.toString()) as ViewObject));
    after = page.next;
  } while (after !== undefined);
  return used;
}

/** The used addresses of an IP pool: those in its ranges and on its networks. */
export function usedOf(
  pool: IpPool,
  used: readonly UsedAddress[],
): UsedAddress[] {
  const ranges = rangesOf(pool);
  return used.filter(
    ({ address, network }) =>
      pool.networks.includes(network) &&
      ranges.some((range) => contains(range, address)),
  );
}

function addressesOf(vif: ViewObject): UsedAddress[] {
  const lists = [vif["allowedIpv4Addresses"], vif["allowedIpv6Addresses"]];
  return lists
    .flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []))
    .flatMap((text) => canonicalAddress(String(text)) ?? [])
    .map((address) => ({
      address,
      network: String(vif["$network"]),
      vm: String(vif["$VM"]),
    }));
}
