/** One value per second for the last seconds; null where no value was known. */
export class History {
  readonly length: number;
  readonly #values: (number | null)[];
  /** The second that the last value belongs to. */
  #last: number | undefined;

  constructor(length: number) {
    this.length = length;
    this.#values = new Array<number | null>(length).fill(null);
  }

  /** Sets the value of a second; seconds that were left out stay empty. Earlier seconds are ignored. */
  set(second: number, value: number | null): void {
    const last = this.#last ?? second - 1;
    if (second < last) return;
    if (second > last) {
      const added = Math.min(second - last, this.length);
      this.#values.splice(0, added);
      while (this.#values.length < this.length) this.#values.push(null);
    }
    this.#values[this.length - 1] = value;
    this.#last = second;
  }

  /** Oldest first. The internal array: callers must not keep it. */
  get values(): readonly (number | null)[] {
    return this.#values;
  }

  get highest(): number {
    return this.#values.reduce<number>(
      (most, value) => Math.max(most, value ?? 0),
      0,
    );
  }
}
