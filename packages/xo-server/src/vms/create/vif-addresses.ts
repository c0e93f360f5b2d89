import type { NewVmVif } from "./new-vm.js";
import type { AssignedAddress } from "../limits/resource-sets.js";
import type { Rollback } from "../rollback.js";

interface AssignVifAddressesOptions {
  /** @param network id of the network of a VIF */
  readonly assign: (network: string) => Promise<AssignedAddress | undefined>;
  readonly rollback: Pick<Rollback, "add">;
}

/**
 * Assigns addresses of IP pools to the VIFs of a new VM for which none were
 * requested.
 * @throws XoError RESOURCES_EXHAUSTED
 */
export async function assignVifAddresses(
  vifs: readonly NewVmVif[] | undefined,
  { assign, rollback }: AssignVifAddressesOptions,
): Promise<readonly NewVmVif[] | undefined> {
  if (vifs === undefined) return undefined;
  const addressed: NewVmVif[] = [];
  for (const vif of vifs) {
    const { networkId, ipv4 = [], ipv6 = [] } = vif;
    const isRequested = ipv4.length > 0 || ipv6.length > 0;
    const found =
      networkId === undefined || isRequested
        ? undefined
        : await assign(networkId);
    if (found === undefined) {
      addressed.push(vif);
      continue;
    }
    rollback.add("an address of its IP pool", () => found.release());
    addressed.push({ ...vif, [found.family]: [found.address] });
  }
  return addressed;
}
