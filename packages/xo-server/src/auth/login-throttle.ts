/** Delay after the first failure, in ms; doubles with each further failure. */
const FIRST_DELAY_MS = 2_000;
const MAX_DELAY_MS = 60_000;
/** Failures of one address before its attempts are delayed: many users may share an address. */
const UNDELAYED_ADDRESS_FAILURES = 10;
/** Failures are removed this long after the last one. */
const EXPIRE_MS = 15 * 60_000;
/** Names and addresses at most; those with the oldest failure are removed first. */
const MAX_KEYS = 10_000;

interface Failures {
  readonly count: number;
  /** Of the last failure, in ms since the epoch. */
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
  /** In the order of the last failure. */
  readonly #failures = new Map<string, Failures>();

  constructor(clock: Pick<WallClock, "now">) {
    this.#clock = clock;
  }

  /** Milliseconds until the next attempt is accepted; 0: now. */
  waitMs({ name, address, isKnown }: ThrottledAttempt): number {
    if (isKnown) return this.#waitOf(knownKey(name, address), 0);
    return Math.max(
      this.#waitOf(userKey(name), 0),
      this.#waitOf(addressKey(address), UNDELAYED_ADDRESS_FAILURES),
    );
  }

  recordFailure({ name, address, isKnown }: ThrottledAttempt): void {
    const keys = isKnown
      ? [knownKey(name, address)]
      : [userKey(name), addressKey(address)];
    for (const key of keys) {
      const count = (this.#find(key)?.count ?? 0) + 1;
      this.#failures.delete(key);
      this.#failures.set(key, { count, time: this.#clock.now() });
    }
    while (this.#failures.size > MAX_KEYS)
      this.#failures.delete(this.#failures.keys().next().value!);
  }

  /** The failures of the address stay: otherwise the owner of one account could guess passwords of others without delay. */
  recordSuccess({ name, address }: ThrottledAttempt): void {
    this.#failures.delete(userKey(name));
    this.#failures.delete(knownKey(name, address));
  }

  #waitOf(key: string, free: number): number {
    const found = this.#find(key);
    if (found === undefined || found.count <= free) return 0;
    const pause = FIRST_DELAY_MS * 2 ** (found.count - free - 1);
    const end = found.time + Math.min(pause, MAX_DELAY_MS);
    return Math.max(0, end - this.#clock.now());
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
import { toRateKey } from "../limits/rate-limits.js";
import { toPair } from "./known-addresses.js";
