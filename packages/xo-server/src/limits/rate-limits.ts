import { isIPv6 } from "node:net";
import { XoError } from "@xo-server/model";
import type { Clock } from "../clock.js";
import { TokenBucket } from "./token-bucket.js";

/** Callers that are remembered; who has asked longest ago is forgotten. */
const MAX_KEYS = 10_000;

/** How many things each caller may still do. */
export class RateLimits {
  readonly perSecond: number;
  readonly #clock: Pick<Clock, "now">;
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(perSecond: number, clock: Pick<Clock, "now">) {
    this.perSecond = perSecond;
    this.#clock = clock;
  }

  /** The same for all who share a key. */
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
   * @param whose in the words of a message: `one address`
   * @throws XoError TOO_MANY_REQUESTS
   */
  take(key: string, whose: string): void {
    const bucket = this.bucketOf(key);
    if (!bucket.take())
      throw new XoError("TOO_MANY_REQUESTS", {
        reason: `${this.perSecond} a second from ${whose}`,
        retryAfterMs: bucket.waitMs(),
      });
  }
}

/** Whoever has an IPv6 address has 2^64 of them: they count as one. */
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
