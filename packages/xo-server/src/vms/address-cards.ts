import type { NewCard } from "./new-vm.js";
import type { AssignedAddress } from "./resource-sets.js";
import type { Rollback } from "./rollback.js";

export interface AddressCardsOptions {
  /** @param network id of the network of a VIF */
  readonly assign: (network: string) => Promise<AssignedAddress | undefined>;
  readonly made: Pick<Rollback, "add">;
}

/**
 * Assigns addresses of IP pools to the VIFs of a new VM for which none are
 * given. @throws XoError RESOURCES_EXHAUSTED
 */
export async function addressCards(
  cards: readonly NewCard[] | undefined,
  { assign, made }: AddressCardsOptions,
): Promise<readonly NewCard[] | undefined> {
  if (cards === undefined) return undefined;
  const addressed: NewCard[] = [];
  for (const card of cards) {
    const { networkId, ipv4 = [], ipv6 = [] } = card;
    const isGiven = ipv4.length > 0 || ipv6.length > 0;
    const found =
      networkId === undefined || isGiven ? undefined : await assign(networkId);
    if (found === undefined) {
      addressed.push(card);
      continue;
    }
    made.add("an address of its IP pool", async () => found.giveBack());
    addressed.push({ ...card, [found.family]: [found.address] });
  }
  return addressed;
}
