import type { Config } from "../../config/config.js";
import type { LimitHits } from "../../limits/limit-hits.js";

/** Who has a socket, as far as limits go. */
export interface LimitedSocket {
  /** Those with the same one count together. */
  readonly rateKey: string;
  /** Ends it, calmly, with a reason for its log. */
  close(reason: string): void;
}

export interface SocketLimitsOptions extends Pick<
  Config["http"],
  "maxSockets" | "maxSocketsPerAddress" | "maxGuestSockets"
> {
  readonly hits: LimitHits;
}

/** How many sockets there are: in all, from one address, of who has not signed in. */
export class SocketLimits {
  readonly #options: SocketLimitsOptions;
  readonly #byAddress = new Map<string, number>();
  /** The oldest first. */
  readonly #anonymous = new Set<LimitedSocket>();
  readonly #all = new Set<LimitedSocket>();

  constructor(options: SocketLimitsOptions) {
    this.#options = options;
  }

  /** Why there is no room for one more; undefined: there is. */
  rejectionReason(rateKey: string): string | undefined {
    const { maxSockets, maxSocketsPerAddress, hits } = this.#options;
    if (this.#all.size >= maxSockets) {
      hits.count("sockets");
      return "too many WebSockets";
    }
    if ((this.#byAddress.get(rateKey) ?? 0) >= maxSocketsPerAddress) {
      hits.count("sockets_of_address");
      return "too many WebSockets from one address";
    }
    return undefined;
  }

  /** A new one is a guest. */
  add(client: LimitedSocket): void {
    this.#all.add(client);
    const { rateKey } = client;
    this.#byAddress.set(rateKey, (this.#byAddress.get(rateKey) ?? 0) + 1);
    this.setAnonymous(client, true);
  }

  /**
   * With too many guests the oldest goes: who comes to sign in does so at once,
   * and would otherwise be kept out by those who only sit there.
   */
  setAnonymous(client: LimitedSocket, isAnonymous: boolean): void {
    // Who has gone is signed out after that.
    if (!isAnonymous || !this.#all.has(client)) {
      this.#anonymous.delete(client);
      return;
    }
    this.#anonymous.add(client);
    if (this.#anonymous.size <= this.#options.maxGuestSockets) return;
    const [oldest] = this.#anonymous;
    this.#anonymous.delete(oldest!);
    this.#options.hits.count("guest_sockets");
    oldest!.close("too many have not signed in");
  }

  remove(client: LimitedSocket): void {
    this.#all.delete(client);
    this.#anonymous.delete(client);
    const left = this.#byAddress.get(client.rateKey)! - 1;
    if (left === 0) this.#byAddress.delete(client.rateKey);
    else this.#byAddress.set(client.rateKey, left);
  }
}
