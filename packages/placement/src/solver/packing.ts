import type { PackingProblem } from "./problem.js";

/**
 * State of a partial solution: units not yet placed, capacity left on hosts.
 * Steps can be undone in reverse order.
 */
export class Packing {
  readonly problem: PackingProblem;
  /** Number of unplaced units of each kind. */
  readonly remaining: Int32Array;
  readonly memory: Float64Array;
  readonly vcpus: Float64Array;
  readonly devices: Float64Array;
  /** At `kind * hosts + host`. */
  readonly allowed: Uint8Array;
  /** At `group * hosts + host`: 1 when a member has been placed there. */
  readonly taken: Uint8Array;
  /** Kind and host alternate, in order of placement. */
  readonly steps: number[] = [];
  /** Number of unplaced units of all kinds. */
  unplaced: number;

  constructor(problem: PackingProblem) {
    this.problem = problem;
    this.remaining = Int32Array.from(
      problem.kinds,
      ({ units }) => units.length,
    );
    this.memory = problem.memory.slice();
    this.vcpus = problem.vcpus.slice();
    this.devices = problem.devices.slice();
    this.allowed = problem.allowed.slice();
    this.taken = new Uint8Array(problem.antiAffinityGroups * problem.hosts);
    this.unplaced = this.remaining.reduce((sum, units) => sum + units, 0);
  }

  /** How many more units of a kind fit on a host, at most those remaining. */
  fits(kind: number, host: number): number {
    const { kinds, hosts } = this.problem;
    if (this.allowed[kind * hosts + host] === 0) return 0;
    const { memory, vcpus, devices, antiAffinity } = kinds[kind]!;
    let fit = this.remaining[kind]!;
    if (memory > 0)
      fit = Math.min(fit, Math.floor(this.memory[host]! / memory));
    if (vcpus > 0) fit = Math.min(fit, Math.floor(this.vcpus[host]! / vcpus));
    for (const { kind: device, count } of devices)
      if (count > 0) {
        const free = this.devices[device * hosts + host]!;
        fit = Math.min(fit, Math.floor(free / count));
      }
    if (antiAffinity.length > 0) fit = Math.min(fit, 1);
    for (const group of antiAffinity)
      if (this.taken[group * hosts + host] === 1) return 0;
    return Math.max(0, fit);
  }

  put(kind: number, host: number): void {
    this.#count(kind, host, 1);
    this.steps.push(kind, host);
  }

  /** Undoes the last step. */
  undo(): void {
    const host = this.steps.pop()!;
    this.#count(this.steps.pop()!, host, -1);
  }

  #count(kind: number, host: number, sign: 1 | -1): void {
    const { kinds, hosts } = this.problem;
    const { memory, vcpus, devices, antiAffinity } = kinds[kind]!;
    this.remaining[kind]! -= sign;
    this.unplaced -= sign;
    this.memory[host]! -= sign * memory;
    this.vcpus[host]! -= sign * vcpus;
    for (const { kind: device, count } of devices)
      this.devices[device * hosts + host]! -= sign * count;
    for (const group of antiAffinity)
      this.taken[group * hosts + host] = sign === 1 ? 1 : 0;
  }
}
