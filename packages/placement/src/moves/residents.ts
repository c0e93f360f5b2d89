import type { Assignment } from "../assignment/assignment.js";

/** VMs by host, while an assignment changes. */
export class Residents {
  readonly #assignment: Assignment;
  readonly #lists: number[][];

  constructor(assignment: Assignment) {
    this.#assignment = assignment;
    this.#lists = assignment.pool.hosts.ids.map(() => []);
    for (const [vm, host] of assignment.hostOf.entries())
      if (host >= 0) this.#lists[host]!.push(vm);
  }

  /**
   * Listed VMs that are still on the host, each once, in no particular order.
   */
  on(host: number): readonly number[] {
    const { hostOf } = this.#assignment;
    return this.#lists[host]!.filter((vm) => hostOf[vm] === host);
  }

  /**
   * Must be called for each VM that arrives. VMs that have left are detected.
   */
  add(vm: number): void {
    const list = this.#lists[this.#assignment.hostOf[vm]!]!;
    if (!list.includes(vm)) list.push(vm);
  }
}
