import type { WallClock } from "@xo-server/kit";
import { createHmac, randomBytes } from "node:crypto";

/** How long a verification is reused, in ms. */
const LIFETIME_MS = 60_000;
const MAX_ENTRIES = 1_000;

/**
 * Cache of recently verified passwords, for scripts that send one with each
 * request: the password hash takes 50 ms CPU. An entry is an HMAC of name and
 * password under a random key of this process. The cache is cleared whenever a
 * user changes.
 */
export class VerifiedPasswords {
  readonly #clock: Pick<WallClock, "now">;
  readonly #key = randomBytes(32);
  /** By HMAC, oldest first. */
  readonly #entries = new Map<string, { userId: string; until: number }>();
  #generation = 0;

  constructor(clock: Pick<WallClock, "now">) {
    this.#clock = clock;
  }

  /** @returns the id of the user; undefined: the password must be verified */
  find(name: string, password: string): string | undefined {
    const proof = this.#entries.get(this.#codeOf(name, password));
    return proof !== undefined && proof.until > this.#clock.now()
      ? proof.userId
      : undefined;
  }

  /** Call before the verification. @returns a function that adds the entry after a success, unless a user has changed in between */
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
