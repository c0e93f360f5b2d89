import { randomUUID } from "node:crypto";
import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { Store } from "@xo-server/store";

/** Maximum number of used secrets in memory. */
const MAX_USED = 10_000;

interface OneTimeSealsOptions {
  readonly store: Pick<Store, "seals" | "oneTimeUses">;
  readonly clock: Pick<WallClock, "now">;
}

interface Sealed {
  readonly id: string;
  /** Time of expiry, in ms since the epoch. */
  readonly until: number;
  readonly value: unknown;
}

/**
 * Data that a client carries from one request to another, encrypted and valid
 * once. Any server of the database can redeem it: the key is that of the store,
 * and the use is recorded in the database.
 */
export class OneTimeSeals {
  readonly #options: OneTimeSealsOptions;
  /** Expiry by id, in the order of use. */
  readonly #used = new Map<string, number>();

  constructor(options: OneTimeSealsOptions) {
    this.#options = options;
  }

  /**
   * @param value JSON
   * @param purpose separates texts of different uses
   * @returns up to about 1.4 times the size of the value, in characters of base64url and "."
   */
  seal(value: object, purpose: string, lifetimeMs: number): string {
    const { store, clock } = this.#options;
    const until = clock.now() + lifetimeMs;
    const sealed: Sealed = { id: randomUUID(), until, value };
    return store.seals.seal(JSON.stringify(sealed), purpose);
  }

  /** @returns undefined: not sealed for this purpose, expired or used */
  async redeem(text: string, purpose: string): Promise<unknown> {
    const { store, clock } = this.#options;
    const opened = store.seals.open(text, purpose);
    if (opened === undefined) return undefined;
    const { id, until, value } = JSON.parse(opened) as Sealed;
    const isUsable = until > clock.now() && (await this.#use(id, until));
    return isUsable ? value : undefined;
  }

  /** While the database is unavailable, a text is valid once on each server. */
  async #use(id: string, until: number): Promise<boolean> {
    if (this.#used.has(id)) return false;
    this.#used.set(id, until);
    this.#removeExpired();
    try {
      return await this.#options.store.oneTimeUses.use(id, until);
    } catch (error) {
      // Sign-ins continue without the database.
      if (error instanceof XoError && error.code === "STORE_UNAVAILABLE")
        return true;
      throw error;
    }
  }

  #removeExpired(): void {
    const now = this.#options.clock.now();
    for (const [id, until] of this.#used) {
      if (until > now && this.#used.size <= MAX_USED) return;
      this.#used.delete(id);
    }
  }
}
