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

/** Delays password attempts after failures, by user name and by client address. */
export class LoginThrottle {
  readonly #clock: Pick<WallClock, "now">;
  /** In the order of the last failure. */
  readonly #failures = new Map<string, Failures>();

  constructor(clock: Pick<WallClock, "now">) {
    this.#clock = clock;
  }

  /** Milliseconds until the next attempt is accepted; 0: now. */
  waitMs(user: string, address: string): number {
    return Math.max(
      this.#waitOf(userKey(user), 0),
      this.#waitOf(addressKey(address), UNDELAYED_ADDRESS_FAILURES),
    );
  }

  recordFailure(user: string, address: string): void {
    for (const key of [userKey(user), addressKey(address)]) {
      const count = (this.#find(key)?.count ?? 0) + 1;
      this.#failures.delete(key);
      this.#failures.set(key, { count, time: this.#clock.now() });
    }
    while (this.#failures.size > MAX_KEYS)
      this.#failures.delete(this.#failures.keys().next().value!);
  }

  /** The failures of the address stay: otherwise the owner of one account could guess passwords of others without delay. */
  recordSuccess(user: string): void {
    this.#failures.delete(userKey(user));
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
    return found !== undefined && this.#clock.now() - found.time < EXPIRE_MS
      ? found
      : undefined;
  }
}

function userKey(user: string): string {
  // Bounds the memory per entry.
  return `user ${user.toLowerCase().slice(0, 256)}`;
}

function addressKey(address: string): string {
  return `address ${address}`;
}
import type { WallClock } from "@xo-server/kit";
