import { addressUrl, type Address } from "./http/address.js";

/** The addresses at which the pool may answer, best first. */
export class Candidates {
  readonly #configured: readonly Address[];
  #learned: readonly Address[] = [];
  #preferred: Address | undefined;

  constructor(configured: readonly Address[]) {
    this.#configured = configured;
  }

  /**
   * Last coordinator, then as configured, then as learned; each once.
   * @param failed has just failed: last of all
   */
  list(failed?: Address): readonly Address[] {
    const all = [...this.#configured, ...this.#learned];
    const ordered =
      this.#preferred === undefined ? all : [this.#preferred, ...all];
    const unique = new Map(ordered.map((item) => [addressUrl(item), item]));
    if (failed !== undefined && unique.delete(addressUrl(failed)))
      unique.set(addressUrl(failed), failed);
    return [...unique.values()];
  }

  isConfigured(address: Address): boolean {
    const url = addressUrl(address);
    return this.#configured.some((item) => addressUrl(item) === url);
  }

  prefer(address: Address): void {
    this.#preferred = address;
  }

  /** Takes the members' addresses in place of those learned before. @returns did the list change? */
  learn(members: readonly Address[]): boolean {
    const before = urls(this.#learned);
    this.#learned = members;
    return before !== urls(members);
  }

  forget(address: Address): void {
    const url = addressUrl(address);
    this.#learned = this.#learned.filter((item) => addressUrl(item) !== url);
    if (this.#preferred !== undefined && addressUrl(this.#preferred) === url)
      this.#preferred = undefined;
  }
}

function urls(addresses: readonly Address[]): string {
  return addresses.map(addressUrl).sort().join(" ");
}
