/** Delay after the first failure, in ms; doubles with each further failure. */
const FIRST_DELAY_MS = 2_000;
const MAX_DELAY_MS = 60_000;
/** Failures of one address before its attempts are delayed: many users may share an address. */
const UNDELAYED_ADDRESS_FAILURES = 10;
/** Failures are removed this long after the last one. */
export const EXPIRE_MS = 15 * 60_000;
/** Maximum number of names and addresses; above, those with the oldest failure are removed. */
const MAX_KEYS = 10_000;

interface Failures {
  readonly count: number;
  /** Time of the last failure, in ms since the epoch. */
  readonly time: number;
}

/** An attempt as the throttle counts it. */
export interface ThrottledAttempt {
  readonly name: string;
  readonly address: string;
  /** The name has signed in from this address before. */
  readonly isKnown: boolean;
}

/**
 * Delays password attempts after failures, by user name and by client address
 * (of IPv6 the /64 network). Attempts with a name that has signed in from an
 * address before are counted separately: an attacker who knows the name delays
 * other clients, not its user.
 */
export class LoginThrottle {
  readonly #clock: Pick<WallClock, "now">;
  /** Ordered by the time of the last failure. */
  readonly #failures = new Map<string, Failures>();

  constructor(clock: Pick<WallClock, "now">) {
    this.#clock = clock;
  }

  /** Milliseconds until the next attempt is accepted; 0: now. */
  waitMs(attempt: ThrottledAttempt): number {
    return Math.max(
      ...keysOf(attempt).map(({ key, free }) => this.#waitOf(key, free)),
    );
  }

  recordFailure(attempt: ThrottledAttempt): void {
    for (const { key } of keysOf(attempt)) {
      const count = (this.#find(key)?.count ?? 0) + 1;
      this.#failures.delete(key);
      this.#failures.set(key, { count, time: this.#clock.now() });
    }
    while (this.#failures.size > MAX_KEYS)
      this.#failures.delete(this.#failures.keys().next().value!);
  }

  recordSuccess(attempt: ThrottledAttempt): void {
    for (const key of resetKeysOf(attempt)) this.#failures.delete(key);
  }

  #waitOf(key: string, free: number): number {
    const found = this.#find(key);
    return found === undefined ? 0 : waitAfter(found, free, this.#clock.now());
  }

  #find(key: string): Failures | undefined {
    const found = this.#failures.get(key);
    const now = this.#clock.now();
    if (found === undefined || now - found.time >= EXPIRE_MS) return undefined;
    if (found.time <= now) return found;
    // The clock was set back.
    const corrected = { ...found, time: now };
    this.#failures.set(key, corrected);
    return corrected;
  }
}

/**
 * The keys by which an attempt is counted, each with the number of failures that
 * cause no delay.
 */
export function keysOf({ name, address, isKnown }: ThrottledAttempt): readonly {
  readonly key: string;
  readonly free: number;
}[] {
  return isKnown
    ? [{ key: knownKey(name, address), free: 0 }]
    : [
        { key: userKey(name), free: 0 },
        { key: addressKey(address), free: UNDELAYED_ADDRESS_FAILURES },
      ];
}

/**
 * The keys whose failures a success resets. Failures of the address remain:
 * otherwise the owner of one account could guess passwords of others without delay.
 */
export function resetKeysOf({ name, address }: ThrottledAttempt): string[] {
  return [userKey(name), knownKey(name, address)];
}

/** Milliseconds after failures until the next attempt is accepted. @param now in ms since the epoch */
export function waitAfter(
  { count, time }: Failures,
  free: number,
  now: number,
): number {
  if (count <= free || now - time >= EXPIRE_MS) return 0;
  const pause = FIRST_DELAY_MS * 2 ** (count - free - 1);
  // A clock that was set back must not prolong the delay.
  const since = Math.max(0, now - time);
  return Math.max(0, Math.min(pause, MAX_DELAY_MS) - since);
}

function userKey(user: string): string {
  // Bounds the memory per entry.
  return `user ${user.toLowerCase().slice(0, 256)}`;
}

function addressKey(address: string): string {
  return `address ${toRateKey(address)}`;
}

function knownKey(user: string, address: string): string {
  return `known ${toPair(user, address)}`;
}
import type { WallClock } from "@xo-server/kit";
import { toRateKey } from "../../limits/rate-limits.js";
import { toPair } from "./known-addresses.js";
