/** Bytes until a fragment is sent: large enough that sending costs little, small enough to be made in a moment. */
const FULL_BYTES = 256 * 1024;

/** Part of a large answer, being put together. */
export class Fragment {
  #bytes = Buffer.allocUnsafeSlow(FULL_BYTES + FULL_BYTES / 4);
  #length = 0;

  get isFull(): boolean {
    return this.#length >= FULL_BYTES;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  addText(text: string): void {
    this.#makeRoom(text.length * 3);
    this.#length += this.#bytes.write(text, this.#length);
  }

  addBytes(bytes: Buffer): void {
    this.#makeRoom(bytes.length);
    this.#length += bytes.copy(this.#bytes, this.#length);
  }

  /** What it has so far; nothing may be added any more. */
  finish(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #makeRoom(length: number): void {
    const needed = this.#length + length;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(
      Math.max(needed, 2 * this.#bytes.length),
    );
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
