import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import { createTotpSecret, findTotpStep } from "./totp.js";

/** Time to enter the first code, in ms. */
const LIFETIME_MS = 10 * 60_000;
const MAX_PENDING = 1_000;

/** Pending TOTP enrollments: they take effect when a code proves that the authenticator app has the secret. */
export class TotpEnrollments {
  readonly #clock: Pick<WallClock, "now">;
  /** By user id, oldest first. */
  readonly #secrets = new Map<string, { secret: string; time: number }>();

  constructor(clock: Pick<WallClock, "now">) {
    this.#clock = clock;
  }

  /** @returns a new secret; it replaces a pending one of the user */
  begin(userId: string): string {
    const secret = createTotpSecret();
    this.#secrets.delete(userId);
    this.#secrets.set(userId, { secret, time: this.#clock.now() });
    if (this.#secrets.size > MAX_PENDING)
      this.#secrets.delete(this.#secrets.keys().next().value!);
    return secret;
  }

  /** @returns the secret, and the time step of the code, which is used up. @throws XoError CREDENTIALS_INVALID for a wrong code, NO_SUCH_OBJECT: no pending enrollment */
  confirm(
    userId: string,
    otp: string,
  ): { readonly secret: string; readonly step: number } {
    const begun = this.#secrets.get(userId);
    const now = this.#clock.now();
    if (begun === undefined || now - begun.time > LIFETIME_MS)
      throw new XoError("NO_SUCH_OBJECT", {
        type: "TOTP enrollment",
        id: userId,
      });
    const step = findTotpStep(begun.secret, otp, now);
    if (step === undefined) throw new XoError("CREDENTIALS_INVALID");
    this.#secrets.delete(userId);
    return { secret: begun.secret, step };
  }
}
