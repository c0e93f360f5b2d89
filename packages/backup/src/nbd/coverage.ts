/** Parts of one request that were received. */
const MAX_PARTS = 8192;

/** Which bytes of a request were received: each exactly once. */
export class Coverage {
  readonly #length: number;
  readonly #parts: { start: number; end: number }[] = [];
  #covered = 0;

  constructor(length: number) {
    this.#length = length;
  }

  get isComplete(): boolean {
    return this.#covered === this.#length;
  }

  /** @returns false if the part is empty, outside, or overlaps another one */
  add(start: number, length: number): boolean {
    const end = start + length;
    if (!(start >= 0 && length > 0 && end <= this.#length)) return false;
    if (this.#parts.length >= MAX_PARTS) return false;
    // Parts usually come in order: the place is at the end.
    let i = this.#parts.length;
    while (i > 0 && this.#parts[i - 1]!.start >= end) i--;
    const before = this.#parts[i - 1];
    if (before !== undefined && before.end > start) return false;
    this.#parts.splice(i, 0, { start, end });
    this.#covered += length;
    return true;
  }
}
