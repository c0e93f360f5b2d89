import type { Problem } from "./problem.js";

/** How far a problem is solved: how many of each kind are left, and what hosts have left. Undone step by step. */
export class Packing {
  readonly problem: Problem;
  /** Of each kind, units that have no place. */
  readonly left: Int32Array;
  readonly memory: Float64Array;
  readonly vcpus: Float64Array;
  readonly devices: Float64Array;
  /** `kind * hosts + host`. */
  readonly allowed: Uint8Array;
  /** `group * hosts + host`: 1 where a member has been placed. */
  readonly taken: Uint8Array;
  /** Kind and host in turns, in the order in which they were placed. */
  readonly steps: number[] = [];
  /** Units of all kinds. */
  unplaced: number;

  constructor(problem: Problem) {
    this.problem = problem;
    this.left = Int32Array.from(problem.kinds, ({ units }) => units.length);
    this.memory = problem.memory.slice();
    this.vcpus = problem.vcpus.slice();
    this.devices = problem.devices.slice();
    this.allowed = problem.allowed.slice();
    this.taken = new Uint8Array(problem.apartGroups * problem.hosts);
    this.unplaced = this.left.reduce((sum, units) => sum + units, 0);
  }

  /** How many more units of a kind a host takes, no more than are left. */
  fits(kind: number, host: number): number {
    const { kinds, hosts } = this.problem;
    if (this.allowed[kind * hosts + host] === 0) return 0;
    const { memory, vcpus, devices, apart } = kinds[kind]!;
    let fit = this.left[kind]!;
    if (memory > 0)
      fit = Math.min(fit, Math.floor(this.memory[host]! / memory));
    if (vcpus > 0) fit = Math.min(fit, Math.floor(this.vcpus[host]! / vcpus));
    for (const { kind: device, count } of devices)
      if (count > 0) {
        const free = this.devices[device * hosts + host]!;
        fit = Math.min(fit, Math.floor(free / count));
      }
    if (apart.length > 0) fit = Math.min(fit, 1);
    for (const group of apart)
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
    const { memory, vcpus, devices, apart } = kinds[kind]!;
    this.left[kind]! -= sign;
    this.unplaced -= sign;
    this.memory[host]! -= sign * memory;
    this.vcpus[host]! -= sign * vcpus;
    for (const { kind: device, count } of devices)
      this.devices[device * hosts + host]! -= sign * count;
    for (const group of apart)
      this.taken[group * hosts + host] = sign === 1 ? 1 : 0;
  }
}
