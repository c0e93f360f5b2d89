import type { WallClock } from "@xo-server/kit";
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { PendingSignIn } from "../../auth/providers/provider.js";

/** Time to sign in at the provider, in ms. */
export const PENDING_LIFETIME_MS = 10 * 60_000;
/** States of completed sign-ins that are remembered against replay. */
const MAX_USED_STATES = 10_000;

const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Pending sign-ins at a provider, each in an encrypted cookie of the browser that
 * began it, so that the server stores nothing for them. Each cookie is valid once.
 */
export class SealedCookies {
  readonly #clock: Pick<WallClock, "now">;
  readonly #key = randomBytes(32);
  /** Expiry by state, in that order. */
  readonly #used = new Map<string, number>();

  constructor(clock: Pick<WallClock, "now">) {
    this.#clock = clock;
  }

  seal(pending: PendingSignIn): string {
    const until = this.#clock.now() + PENDING_LIFETIME_MS;
    const text = JSON.stringify({ ...pending, until });
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv("aes-256-gcm", this.#key, iv);
    const parts = [cipher.update(text, "utf8"), cipher.final()];
    return Buffer.concat([iv, cipher.getAuthTag(), ...parts]).toString(
      "base64url",
    );
  }

  /** @returns undefined: not sealed by this process, expired or used */
  redeem(cookie: string): PendingSignIn | undefined {
    const found = this.#open(cookie);
    const now = this.#clock.now();
    if (found === undefined || found.until <= now) return undefined;
    const { until, ...pending } = found;
    if (this.#used.has(pending.state)) return undefined;
    this.#used.set(pending.state, until);
    this.#removeExpired(now);
    return pending;
  }

  #open(cookie: string): (PendingSignIn & { until: number }) | undefined {
    const bytes = Buffer.from(cookie, "base64url");
    if (bytes.length <= IV_BYTES + TAG_BYTES) return undefined;
    const iv = bytes.subarray(0, IV_BYTES);
    const decipher = createDecipheriv("aes-256-gcm", this.#key, iv, {
      authTagLength: TAG_BYTES,
    });
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    try {
      const text =
        decipher.update(
          bytes.subarray(IV_BYTES + TAG_BYTES),
          undefined,
          "utf8",
        ) + decipher.final("utf8");
      return JSON.parse(text) as PendingSignIn & { until: number };
    } catch {
      return undefined;
    }
  }

  #removeExpired(now: number): void {
    for (const [state, until] of this.#used) {
      if (until > now && this.#used.size <= MAX_USED_STATES) return;
      this.#used.delete(state);
    }
  }
}
