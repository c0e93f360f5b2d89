import { NOTHING, minus, type Amount, type Bounds } from "./bounds.js";

/**
 * Which hosts are being relieved, and of what. It begins above "high" and ends
 * below "low":
 *
 *          cool --(share > high)--> relieved of CPU, memory or both
 *           ^                              |
 *           +---------(share <= low)-------+
 */
export class Heat {
  readonly #bounds: Bounds;
  readonly #ofCpu: Set<number>;
  readonly #ofMemory: Set<number>;

  constructor(hosts: number, bounds: Bounds) {
    this.#bounds = bounds;
    const all = Array.from({ length: hosts }, (_, host) => host);
    this.#ofCpu = new Set(all.filter((host) => bounds.lacksCpu(host)));
    this.#ofMemory = new Set(all.filter((host) => bounds.lacksMemory(host)));
  }

  /** Hosts that are being relieved. */
  get hosts(): readonly number[] {
    return [...new Set([...this.#ofCpu, ...this.#ofMemory])];
  }

  isRelievedOfCpu(host: number): boolean {
    return this.#ofCpu.has(host);
  }

  isRelievedOfMemory(host: number): boolean {
    return this.#ofMemory.has(host);
  }

  /** How far above what it should be; 1: just at "high". */
  of(host: number): number {
    const { cpuHigh, memoryHigh } = this.#bounds;
    return Math.max(
      this.#ofCpu.has(host) ? this.#bounds.cpu(host) / cpuHigh : 0,
      this.#ofMemory.has(host) ? this.#bounds.memory(host) / memoryHigh : 0,
    );
  }

  /** Leaves alone what is below "low" by now. */
  cool(host: number): void {
    const { cpuLow, memoryLow } = this.#bounds;
    if (this.#bounds.cpu(host) <= cpuLow) this.#ofCpu.delete(host);
    if (this.#bounds.memory(host) <= memoryLow) this.#ofMemory.delete(host);
  }

  /**
   * Leaves alone what is no longer above "high", as if it was looked at for the first time.
   * @returns whether that changes anything
   */
  settle(): boolean {
    const before = this.#ofCpu.size + this.#ofMemory.size;
    for (const host of this.#ofCpu)
      if (!this.#bounds.lacksCpu(host)) this.#ofCpu.delete(host);
    for (const host of this.#ofMemory)
      if (!this.#bounds.lacksMemory(host)) this.#ofMemory.delete(host);
    return this.#ofCpu.size + this.#ofMemory.size < before;
  }

  /** Fall of the sum of squares, of what `from` is relieved of, if so much goes from there to another. */
  gain(from: number, to: number, amount: Amount): number {
    return this.fall(from, amount) - this.#rise(from, to, amount);
  }

  /** No gain is more than that. */
  fall(from: number, amount: Amount): number {
    return -this.#rise(from, from, minus(NOTHING, amount));
  }

  /** How much more the squares of a host become with so much more there. */
  #rise(relieved: number, host: number, more: Amount): number {
    const bounds = this.#bounds;
    let rise = 0;
    if (this.#ofCpu.has(relieved))
      rise += bounds.cpu(host, more) ** 2 - bounds.cpu(host) ** 2;
    if (this.#ofMemory.has(relieved))
      rise += bounds.memory(host, more) ** 2 - bounds.memory(host) ** 2;
    return rise;
  }
}
