import type { WallClock } from "@xo-server/kit";
import { isIPv6 } from "node:net";
import { XoError } from "@xo-server/model";
import { TokenBucket } from "./token-bucket.js";

/** Maximum number of keys; above, the least recently used are removed. */
const MAX_KEYS = 10_000;

/** A rate limit for each key, by a token bucket. */
export class RateLimits {
  readonly perSecond: number;
  readonly #clock: Pick<WallClock, "now">;
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(perSecond: number, clock: Pick<WallClock, "now">) {
    this.perSecond = perSecond;
    this.#clock = clock;
  }

  /** The bucket of a key. */
  bucketOf(key: string): TokenBucket {
    const bucket =
      this.#buckets.get(key) ??
      new TokenBucket(this.perSecond, () => this.#clock.now());
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > MAX_KEYS)
      this.#buckets.delete(this.#buckets.keys().next().value!);
    return bucket;
  }

  /**
   * @param whose what the limit applies to, for the error message: `one address`
   * @throws XoError TOO_MANY_REQUESTS
   */
  take(key: string, whose: string): void {
    const bucket = this.bucketOf(key);
    if (!bucket.take())
      throw new XoError("TOO_MANY_REQUESTS", {
        reason: `more than ${this.perSecond} per second from ${whose}`,
        retryAfterMs: bucket.waitMs(),
      });
  }
}

/** IPv6 clients usually have a /64 network: its addresses share one limit. */
export function toRateKey(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = "", tail] = address.split("::");
  const groups = head === "" ? [] : head.split(":");
  const tailLength =
    tail === undefined || tail === "" ? 0 : tail.split(":").length;
  const zeros =
    tail === undefined ? 0 : Math.max(0, 8 - groups.length - tailLength);
  const all = [
    ...groups,
    ...Array<string>(zeros).fill("0"),
    ...(tail ?? "").split(":"),
  ];
  return `${all.slice(0, 4).join(":")}::/64`;
}
