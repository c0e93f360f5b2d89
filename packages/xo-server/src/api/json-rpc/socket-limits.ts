import type { Config } from "../../config/config.js";
import type { LimitHits } from "../../limits/limit-hits.js";

/** A connection whose number is limited. */
export interface LimitedSocket {
  /** Connections with the same key share a limit. */
  readonly rateKey: string;
  /** Closes the connection with a reason. */
  close(reason: string): void;
}

interface SocketLimitsOptions extends Pick<
  Config["http"],
  "maxSockets" | "maxSocketsPerAddress" | "maxAnonymousSockets"
> {
  readonly hits: LimitHits;
}

/** Counts connections in total, per address and anonymous. */
export class SocketLimits {
  readonly #options: SocketLimitsOptions;
  readonly #byAddress = new Map<string, number>();
  /** Oldest first. */
  readonly #anonymous = new Set<LimitedSocket>();
  readonly #all = new Set<LimitedSocket>();

  constructor(options: SocketLimitsOptions) {
    this.#options = options;
  }

  /** Why another connection is rejected; undefined: it is accepted. */
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

  /** Adds a connection, which counts as anonymous until `setAnonymous`. */
  add(client: LimitedSocket): void {
    this.#all.add(client);
    const { rateKey } = client;
    this.#byAddress.set(rateKey, (this.#byAddress.get(rateKey) ?? 0) + 1);
    this.setAnonymous(client, true);
  }

  /**
   * With too many anonymous connections the oldest is closed: clients sign in right
   * after connecting, and idle anonymous connections must not keep them out.
   */
  setAnonymous(client: LimitedSocket, isAnonymous: boolean): void {
    // Closed connections are signed out after their removal.
    if (!isAnonymous || !this.#all.has(client)) {
      this.#anonymous.delete(client);
      return;
    }
    this.#anonymous.add(client);
    if (this.#anonymous.size <= this.#options.maxAnonymousSockets) return;
    const [oldest] = this.#anonymous;
    this.#anonymous.delete(oldest!);
    this.#options.hits.count("guest_sockets");
    oldest!.close("too many anonymous connections");
  }

  remove(client: LimitedSocket): void {
    this.#all.delete(client);
    this.#anonymous.delete(client);
    const left = this.#byAddress.get(client.rateKey)! - 1;
    if (left === 0) this.#byAddress.delete(client.rateKey);
    else this.#byAddress.set(client.rateKey, left);
  }
}
