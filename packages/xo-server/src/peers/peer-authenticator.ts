import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { LeaseOwner } from "@xo-server/store";
import { RateLimits, toRateKey } from "../limits/rate-limits.js";
import type { Logger } from "../log/logger.js";
import type { PeerRequestBase } from "./peer-messages.js";

/** Requests of one address that are refused, and logged, per second. */
const REFUSED_PER_SECOND = 5;

interface PeerAuthenticatorOptions<Request extends PeerRequestBase> {
  readonly messages: {
    openRequest(sealed: string): Promise<Request | undefined>;
  };
  /** What is requested, such as "a copy of a pool". */
  readonly what: string;
  readonly self: LeaseOwner;
  readonly wallClock: Pick<WallClock, "now">;
  readonly logger: Logger;
}

/** Accepts sealed requests of other servers, and limits those that it refuses. */
export class PeerAuthenticator<Request extends PeerRequestBase> {
  readonly #options: PeerAuthenticatorOptions<Request>;
  readonly #refusals: RateLimits;
  #refused = 0;

  constructor(options: PeerAuthenticatorOptions<Request>) {
    this.#options = options;
    this.#refusals = new RateLimits(REFUSED_PER_SECOND, options.wallClock);
  }

  /** Requests since the start that were not authentic. */
  get refused(): number {
    return this.#refused;
  }

  /**
   * @param sealed as PeerMessages.sealRequest has created it
   * @param address of the client
   * @throws XoError FORBIDDEN, TOO_MANY_REQUESTS
   */
  async authenticate(sealed: string, address: string): Promise<Request> {
    const { messages, what, self, logger } = this.#options;
    const refusals = this.#refusals.bucketOf(toRateKey(address));
    if (refusals.waitMs() > 0)
      throw new XoError("TOO_MANY_REQUESTS", {
        reason: "too many refused requests from this address",
      });
    const request = await messages.openRequest(sealed);
    if (request?.to === self.instance) return request;
    refusals.take();
    this.#refused++;
    const reason =
      request === undefined
        ? "it is not sealed with the key of this database, has expired, or was used before"
        : `it is from server ${request.from} for another process than this one`;
    logger.warn(`refused a request for ${what} from ${address}: ${reason}`);
    throw new XoError("FORBIDDEN");
  }
}
