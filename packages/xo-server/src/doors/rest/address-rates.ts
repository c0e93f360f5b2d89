import { XoError } from "@xo-server/model";
import type { Clock } from "../../clock.js";
import { TokenBucket } from "../token-bucket.js";

/** Addresses that are remembered; who has asked longest ago is forgotten. */
const MOST = 10_000;

/** How many requests each address has left. */
export class AddressRates {
  readonly #perSecond: number;
  readonly #clock: Pick<Clock, "now">;
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(perSecond: number, clock: Pick<Clock, "now">) {
    this.#perSecond = perSecond;
    this.#clock = clock;
  }

  /** @throws XoError TOO_MANY_REQUESTS */
  take(address: string): void {
    const bucket =
      this.#buckets.get(address) ??
      new TokenBucket(this.#perSecond, () => this.#clock.now());
    this.#buckets.delete(address);
    this.#buckets.set(address, bucket);
    if (this.#buckets.size > MOST)
      this.#buckets.delete(this.#buckets.keys().next().value!);
    if (!bucket.take())
      throw new XoError("TOO_MANY_REQUESTS", {
        reason: `${this.#perSecond} a second from one address`,
        retryAfterMs: bucket.waitMs(),
      });
  }
}
