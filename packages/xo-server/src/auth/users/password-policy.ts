import { XoError } from "@xo-server/model";
import type { Config } from "../../config/config.js";

/** Requirements for new passwords. */
export class PasswordPolicy {
  readonly #minLength: number;

  constructor({
    minPasswordLength,
  }: Pick<Config["auth"], "minPasswordLength">) {
    this.#minLength = minPasswordLength;
  }

  /** @throws XoError INVALID_PARAMETERS */
  check(password: string): void {
    if ([...password].length >= this.#minLength) return;
    throw new XoError("INVALID_PARAMETERS", {
      reason: `a password must have at least ${this.#minLength} characters`,
      errors: [],
    });
  }
}
