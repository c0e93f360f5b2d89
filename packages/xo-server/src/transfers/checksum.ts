import { createHash, type Hash } from "node:crypto";
import { XoError } from "@xo-server/model";

/**
 * SHA-256 of bytes that pass. 64 KiB take 0.04 ms (0.13 ms where the processor
 * has no instructions for it): they come one at a time, between other work.
 */
export class Checksum {
  readonly #hash: Hash = createHash("sha256");
  readonly #expected: Buffer | undefined;
  #digest: Buffer | undefined;

  /** @param expected the checksum to compare with; absent: it is only computed */
  constructor(expected?: Buffer) {
    this.#expected = expected;
  }

  get isExpected(): boolean {
    return this.#expected !== undefined;
  }

  update(bytes: Buffer): void {
    this.#hash.update(bytes);
  }

  /** The checksum of all bytes. No bytes may follow. */
  digest(): Buffer {
    return (this.#digest ??= this.#hash.digest());
  }

  /** @throws XoError CHECKSUM_MISMATCH */
  check(): void {
    const actual = this.digest();
    if (this.#expected === undefined || this.#expected.equals(actual)) return;
    throw new XoError("CHECKSUM_MISMATCH", {
      actual: actual.toString("hex"),
      expected: this.#expected.toString("hex"),
    });
  }
}
