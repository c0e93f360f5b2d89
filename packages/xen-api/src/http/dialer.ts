import type { Logger } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import { addressName, addressUrl, type Address } from "./address.js";
import {
  dial,
  type DialedSocket,
  type DialExtra,
  type DialOptions,
} from "./dial.js";
import type { IndirectRoute } from "./indirect-route.js";
import { MemberPath } from "./member-path.js";

interface DialerOptions extends DialOptions {
  /** Absent: members are reached directly only. */
  readonly route?: IndirectRoute | undefined;
  readonly logger: Logger;
  readonly label: string;
}

/** A check of a member that seems not to answer is made at most this often, in ms. */
const CHECK_INTERVAL_MS = 5_000;

/** Establishes all connections of a client to the members of its pool. */
export class Dialer {
  readonly #options: DialerOptions;
  readonly #closing = new AbortController();
  readonly #paths = new Map<string, MemberPath>();
  /** By address, in monotonic ms. */
  readonly #checkedAt = new Map<string, number>();

  constructor(options: DialerOptions) {
    this.#options = options;
  }

  /**
   * Connects to the address directly, or if that fails, through the indirect route.
   * @throws as the function dial
   */
  dial(address: Address, extra: DialExtra = {}): Promise<DialedSocket> {
    const path = this.#pathOf(address);
    return path === undefined
      ? dial(address, this.#options, extra)
      : path.dial(extra);
  }

  /** Whether members can be reached in another way now. */
  get hasOtherWay(): boolean {
    return this.#options.route?.isAvailable === true;
  }

  /** Name of what the member is reached through; undefined: directly. */
  viaOf(address: Address): string | undefined {
    return this.#paths.get(addressUrl(address))?.via;
  }

  /**
   * For another process, after `dial` has reached the member indirectly.
   * @returns path of a Unix socket by which it reaches the member
   * @throws XoError UNREACHABLE
   */
  listen(address: Address): Promise<string> {
    return this.listenTo(addressUrl(address), addressName(address));
  }

  /**
   * The same for something else in the pool, which is not reached directly.
   * @param name for errors
   */
  async listenTo(url: string, name: string): Promise<string> {
    try {
      return await this.#options.route!.listen(url);
    } catch (error) {
      const { message: reason } = error as Error;
      throw new XoError("UNREACHABLE", { address: name, reason }, error);
    }
  }

  /** Whether calls may be sent on an idle connection. @param via how it was established */
  isUsable(address: Address, via: string | undefined): boolean {
    return this.#paths.get(addressUrl(address))?.isUsable(via) ?? true;
  }

  /**
   * Call when an answer is late: finds out whether the member can be reached in the way
   * that is used now. Connections on which packets are dropped are closed if it is reached in the other way.
   */
  check(address: Address): void {
    const { route, clock } = this.#options;
    if (route?.isAvailable !== true) return;
    const url = addressUrl(address);
    const now = clock.now();
    if (now - (this.#checkedAt.get(url) ?? -Infinity) < CHECK_INTERVAL_MS)
      return;
    this.#checkedAt.set(url, now);
    this.dial(address, { signal: this.#closing.signal }).then(
      ({ socket }) => socket.destroy(),
      // The late call has the error, in the end.
      () => undefined,
    );
  }

  close(): void {
    this.#closing.abort();
  }

  #pathOf(address: Address): MemberPath | undefined {
    const { route, logger, label } = this.#options;
    if (route === undefined) return undefined;
    const url = addressUrl(address);
    let path = this.#paths.get(url);
    if (path === undefined) {
      const closing = this.#closing.signal;
      const dialing = this.#options;
      path = new MemberPath({
        address,
        dialing,
        route,
        logger,
        label,
        closing,
      });
      this.#paths.set(url, path);
    }
    return path;
  }
}
