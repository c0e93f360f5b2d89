import { createHmac, randomBytes } from "node:crypto";
import type { Clock } from "../clock.js";

/** So long a password that was right is right without being looked at. */
const LIFETIME_MS = 60_000;
const MAX_ENTRIES = 1_000;

/**
 * Passwords that were right a moment ago, for scripts that send one with each
 * request: a slow hash each time would be 50 ms of a processor. Kept is a code
 * of name and password, under a key that nobody but this process has, and all
 * are forgotten when anything about users changes.
 */
export class VerifiedPasswords {
  readonly #clock: Pick<Clock, "now">;
  readonly #key = randomBytes(32);
  /** In the order in which they were made. */
  readonly #entries = new Map<string, { userId: string; until: number }>();
  #generation = 0;

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** @returns whose they are; undefined: look at the password */
  find(name: string, password: string): string | undefined {
    const proof = this.#entries.get(this.#codeOf(name, password));
    return proof !== undefined && proof.until > this.#clock.now()
      ? proof.userId
      : undefined;
  }

  /** Before a password is looked at. @returns what to call when it was right; too late if users have changed meanwhile */
  begin(name: string, password: string): (userId: string) => void {
    const generation = this.#generation;
    return (userId) => {
      if (generation !== this.#generation) return;
      const code = this.#codeOf(name, password);
      this.#entries.delete(code);
      this.#entries.set(code, {
        userId,
        until: this.#clock.now() + LIFETIME_MS,
      });
      if (this.#entries.size > MAX_ENTRIES)
        this.#entries.delete(this.#entries.keys().next().value!);
    };
  }

  clear(): void {
    this.#generation++;
    this.#entries.clear();
  }

  #codeOf(name: string, password: string): string {
    return createHmac("sha256", this.#key)
      .update(`${Buffer.byteLength(name)}:${name}${password}`)
      .digest("base64");
  }
}
