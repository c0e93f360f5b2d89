const HEX = Buffer.from("0123456789abcdef", "latin1");
const digitOf = new Uint8Array(256);
HEX.forEach((code, digit) => (digitOf[code] = digit));

/** Values at a position of the template that differ in each pool. */
export const PlaceKind = {
  /** Eight hexadecimal digits: how a uuid begins, of a reference or not. */
  id: 0,
  /** Three decimal digits in a name: the pool's number. */
  name: 1,
  /** Three decimal digits of an IPv4 address: 100 and the pool's number. */
  address: 2,
} as const;

/** Addresses are 127.100.x.y to 127.255.x.y. */
const ADDRESSES = 156;

/**
 * Replaces the parts of the template that differ in each pool. Ids are changed by an exclusive
 * or, so that two ids never become one; pool 0 is the template itself.
 */
export class PoolTransform {
  readonly #keys: Uint8Array;
  readonly #name: Buffer;
  readonly #address: Buffer;

  /** @param number of the pool, from 0 */
  constructor(number: number) {
    // An odd factor: no two pools have the same.
    const key = Math.imul(number, 0x9e3779b1) >>> 0;
    this.#keys = Uint8Array.from(
      { length: 8 },
      (_, i) => (key >>> (28 - 4 * i)) & 15,
    );
    this.#name = Buffer.from(String(number).padStart(3, "0").slice(-3));
    this.#address = Buffer.from(String(100 + (number % ADDRESSES)));
  }

  /** Writes over the position at `at`. */
  apply(bytes: Buffer, at: number, kind: number): void {
    if (kind === PlaceKind.id) this.#changeId(bytes, at);
    else (kind === PlaceKind.name ? this.#name : this.#address).copy(bytes, at);
  }

  /** A reference or uuid of the template as it is here, and the other way round. */
  id(text: string): string {
    const bytes = Buffer.from(text, "latin1");
    const start = text.indexOf(":") + 1;
    if (bytes.length < start + 8) return text;
    this.#changeId(bytes, start);
    return bytes.toString("latin1");
  }

  #changeId(bytes: Buffer, at: number): void {
    const keys = this.#keys;
    for (let i = 0; i < 8; i++)
      bytes[at + i] = HEX[digitOf[bytes[at + i]!]! ^ keys[i]!]!;
  }
}
