import type { Store } from "@xo-server/store";
import { toRateKey } from "../../limits/rate-limits.js";

const MAX_PAIRS = 10_000;

/**
 * Addresses from which a name has signed in: since the start, or according to
 * its tokens. Attempts from there are not delayed by failures of others who
 * know the name.
 */
export class KnownAddresses {
  readonly #store: Pick<Store, "users" | "tokens">;
  /** `name address`, ordered by the time of the last sign-in, oldest first. */
  readonly #pairs = new Set<string>();

  constructor(store: Pick<Store, "users" | "tokens">) {
    this.#store = store;
  }

  add(name: string, address: string): void {
    const pair = toPair(name, address);
    this.#pairs.delete(pair);
    this.#pairs.add(pair);
    if (this.#pairs.size > MAX_PAIRS)
      this.#pairs.delete(this.#pairs.values().next().value!);
  }

  has(name: string, address: string): boolean {
    if (this.#pairs.has(toPair(name, address))) return true;
    const { users, tokens } = this.#store;
    const user = users.findByName(name);
    if (user === undefined) return false;
    const key = toRateKey(address);
    for (const { lastAddress } of tokens.ofUser(user.id))
      if (lastAddress !== undefined && toRateKey(lastAddress) === key)
        return true;
    return false;
  }
}

/** @returns the key of counters per name and address */
export function toPair(name: string, address: string): string {
  // Bounds the memory per entry; directories ignore the case of names.
  return `${name.toLowerCase().slice(0, 256)} ${toRateKey(address)}`;
}
