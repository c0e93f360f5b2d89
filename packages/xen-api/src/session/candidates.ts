import { addressUrl, type Address } from "../http/address.js";

/** Addresses of the pool members: where to connect, in order of preference. */
export class Candidates {
  readonly #configured: readonly Address[];
  #discovered: readonly Address[] = [];
  #preferred: Address | undefined;
  /** URLs of all addresses; undefined: they have changed. Events of a large pool read them for each host. */
  #known: ReadonlySet<string> | undefined;

  /** @param persisted addresses discovered by an earlier run */
  constructor(
    configured: readonly Address[],
    persisted: readonly Address[] = [],
  ) {
    this.#configured = configured;
    this.#discovered = persisted.filter(({ scheme, port }) =>
      configured.some((item) => item.scheme === scheme && item.port === port),
    );
  }

  /**
   * The last coordinator, then configured, then discovered addresses, without duplicates.
   * @param failed address that has just failed: moved to the end
   */
  list(failed?: Address): readonly Address[] {
    const all = [...this.#configured, ...this.#discovered];
    const ordered =
      this.#preferred === undefined ? all : [this.#preferred, ...all];
    const unique = new Map(ordered.map((item) => [addressUrl(item), item]));
    if (failed !== undefined && unique.delete(addressUrl(failed)))
      unique.set(addressUrl(failed), failed);
    return [...unique.values()];
  }

  /** Is the address that of a known member? */
  isKnown(address: Address): boolean {
    this.#known ??= new Set(this.list().map(addressUrl));
    return this.#known.has(addressUrl(address));
  }

  /**
   * May credentials be sent to an address that a host names as its coordinator?
   * Only to known members, once they are known.
   */
  mayFollow(address: Address): boolean {
    return this.#discovered.length === 0 || this.isKnown(address);
  }

  isConfigured(address: Address): boolean {
    const url = addressUrl(address);
    return this.#configured.some((item) => addressUrl(item) === url);
  }

  prefer(address: Address): void {
    this.#preferred = address;
    this.#known = undefined;
  }

  /** Replaces the discovered addresses. @returns whether they changed */
  setDiscovered(members: readonly Address[]): boolean {
    const before = urls(this.#discovered);
    this.#discovered = members;
    this.#known = undefined;
    return before !== urls(members);
  }

  remove(address: Address): void {
    const url = addressUrl(address);
    this.#known = undefined;
    this.#discovered = this.#discovered.filter(
      (item) => addressUrl(item) !== url,
    );
    if (this.#preferred !== undefined && addressUrl(this.#preferred) === url)
      this.#preferred = undefined;
  }
}

function urls(addresses: readonly Address[]): string {
  return addresses.map(addressUrl).sort().join(" ");
}
