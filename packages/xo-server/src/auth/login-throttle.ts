import type { Clock } from "../clock.js";

/** After a failure; twice as long after each further one. */
const FIRST_DELAY_MS = 2_000;
const MAX_DELAY_MS = 60_000;
/** Failures of an address that cost nothing: many people may sit behind one. */
const UNDELAYED_ADDRESS_FAILURES = 10;
/** Without a failure for so long, all is forgotten. */
const EXPIRE_MS = 15 * 60_000;
/** Names and addresses that are remembered; the ones that failed longest ago go first. */
const MAX_KEYS = 10_000;

interface Failures {
  readonly count: number;
  /** Of the last one. */
  readonly time: number;
}

/** Slows down who guesses passwords, by the user and by the address that they guess from. */
export class LoginThrottle {
  readonly #clock: Pick<Clock, "now">;
  /** In the order of their last failures. */
  readonly #failures = new Map<string, Failures>();

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** Milliseconds until a try is looked at; 0: now. */
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

  /** The address keeps its failures: who has an account could otherwise guess those of others without a pause. */
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
  // A name may be long: what is kept is bounded, too.
  return `user ${user.toLowerCase().slice(0, 256)}`;
}

function addressKey(address: string): string {
  return `address ${address}`;
}
