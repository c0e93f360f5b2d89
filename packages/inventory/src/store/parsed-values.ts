/** A power of two. */
const SLOTS = 256;

/**
 * The values of columns that were parsed last, by their place. Equal values of a
 * block of compressed records have one place, and readers visit the rows of a block one
 * after the other. Values are shared by readers and must not be changed.
 */
export class ParsedValues {
  readonly #bytes: (Buffer | undefined)[] = new Array<undefined>(SLOTS);
  readonly #offsets = new Int32Array(SLOTS);
  readonly #values: unknown[] = new Array<undefined>(SLOTS);

  /** @returns undefined: not known */
  get(bytes: Buffer, offset: number): unknown {
    const slot = offset & (SLOTS - 1);
    return this.#offsets[slot] === offset && this.#bytes[slot] === bytes
      ? this.#values[slot]
      : undefined;
  }

  set(bytes: Buffer, offset: number, value: unknown): void {
    const slot = offset & (SLOTS - 1);
    this.#bytes[slot] = bytes;
    this.#offsets[slot] = offset;
    this.#values[slot] = value;
  }

  /** To be called when a block is released: its memory would be retained. */
  clear(): void {
    this.#bytes.fill(undefined);
    this.#values.fill(undefined);
  }
}
