import { NOTHING, minus, type Demand, type Thresholds } from "./thresholds.js";

/**
 * Overloaded hosts, separately for CPU and memory, with hysteresis: relief
 * starts above "high" and ends below "low".
 *
 *     normal --(share > high)--> relieved of CPU, memory or both
 *       ^                               |
 *       +---------(share <= low)--------+
 */
export class Overload {
  readonly #thresholds: Thresholds;
  readonly #ofCpu: Set<number>;
  readonly #ofMemory: Set<number>;

  constructor(hosts: number, thresholds: Thresholds) {
    this.#thresholds = thresholds;
    const all = Array.from({ length: hosts }, (_, host) => host);
    this.#ofCpu = new Set(all.filter((host) => thresholds.exceedsCpu(host)));
    this.#ofMemory = new Set(
      all.filter((host) => thresholds.exceedsMemory(host)),
    );
  }

  /** Hosts being relieved. */
  get hosts(): readonly number[] {
    return [...new Set([...this.#ofCpu, ...this.#ofMemory])];
  }

  isRelievedOfCpu(host: number): boolean {
    return this.#ofCpu.has(host);
  }

  /** Share in use divided by the "high" threshold; 1 at the threshold. */
  severityOf(host: number): number {
    const { cpuHigh, memoryHigh } = this.#thresholds;
    return Math.max(
      this.#ofCpu.has(host) ? this.#thresholds.cpu(host) / cpuHigh : 0,
      this.#ofMemory.has(host) ? this.#thresholds.memory(host) / memoryHigh : 0,
    );
  }

  /** Ends relief of a host that is below "low". */
  endIfBelowLow(host: number): void {
    const { cpuLow, memoryLow } = this.#thresholds;
    if (this.#thresholds.cpu(host) <= cpuLow) this.#ofCpu.delete(host);
    if (this.#thresholds.memory(host) <= memoryLow) this.#ofMemory.delete(host);
  }

  /**
   * Ends relief of all hosts that are not above "high", as in a first
   * evaluation.
   * @returns whether any ended
   */
  endIfNotAboveHigh(): boolean {
    const before = this.#ofCpu.size + this.#ofMemory.size;
    for (const host of this.#ofCpu)
      if (!this.#thresholds.exceedsCpu(host)) this.#ofCpu.delete(host);
    for (const host of this.#ofMemory)
      if (!this.#thresholds.exceedsMemory(host)) this.#ofMemory.delete(host);
    return this.#ofCpu.size + this.#ofMemory.size < before;
  }

  /**
   * Decrease of the sum of squared shares of the overloaded resource when this
   * demand moves between the hosts.
   */
  gain(from: number, to: number, amount: Demand): number {
    return this.maxGain(from, amount) - this.#increase(from, to, amount);
  }

  /** Upper bound of the gain. */
  maxGain(from: number, amount: Demand): number {
    return -this.#increase(from, from, minus(NOTHING, amount));
  }

  /** Increase of the squared shares of a host when this demand is added. */
  #increase(relieved: number, host: number, more: Demand): number {
    const thresholds = this.#thresholds;
    let rise = 0;
    if (this.#ofCpu.has(relieved))
      rise += thresholds.cpu(host, more) ** 2 - thresholds.cpu(host) ** 2;
    if (this.#ofMemory.has(relieved))
      rise += thresholds.memory(host, more) ** 2 - thresholds.memory(host) ** 2;
    return rise;
  }
}
