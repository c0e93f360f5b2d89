import type { Assignment } from "../assignment/assignment.js";
import type { Purpose } from "../model/plan.js";
import type { Move, TargetMove } from "./move.js";
import { StepRules } from "./step-rules.js";

/**
 * Limit of host checks for intermediate hosts, before cycles are left
 * unresolved.
 */
const MAX_HOST_CHECKS = 1_000_000;

/**
 * Executes moves in order, each as soon as its host accepts the VM. Waiting
 * moves are retried when a VM has left that host. A cycle is broken by moving
 * one VM via a third host.
 */
export class MoveSequence {
  readonly moves: Move[] = [];
  /** VMs that move via a third host. */
  readonly detoured = new Set<number>();
  readonly #assignment: Assignment;
  readonly #rules: StepRules;
  readonly #waiting = new Map<number, TargetMove[]>();
  /** Hosts that VMs have left since waiting moves were last retried. */
  readonly #vacated: number[] = [];
  /** Free bytes of each host after all moves. */
  readonly #freeAtEnd: Float64Array;
  #hostChecks = 0;

  /** @param assignment the current one; has the result afterwards */
  constructor(assignment: Assignment, requested: readonly TargetMove[]) {
    this.#assignment = assignment;
    this.#rules = new StepRules(assignment);
    this.#freeAtEnd = freeAtEnd(assignment, requested);
    for (const one of requested) {
      if (!this.#try(one)) this.#wait(one);
      this.#tryAgain();
    }
    while (this.#breakCycle()) this.#tryAgain();
  }

  /** VMs that cannot reach their target, by ascending memory. */
  get waiting(): readonly number[] {
    const { vmMemory } = this.#assignment.pool;
    return [...this.#waiting.values()]
      .flatMap((list) => list.map(({ vm }) => vm))
      .sort((a, b) => vmMemory[a]! - vmMemory[b]! || a - b);
  }

  #wait(one: TargetMove): void {
    const list = this.#waiting.get(one.to);
    if (list === undefined) this.#waiting.set(one.to, [one]);
    else list.push(one);
  }

  #try({ vm, to, purpose }: TargetMove): boolean {
    if (!this.#rules.allows(vm, to)) return false;
    this.#move(vm, to, purpose);
    return true;
  }

  #move(vm: number, to: number, purpose: Purpose): void {
    const from = this.#assignment.hostOf[vm]!;
    this.#assignment.remove(vm);
    this.#assignment.add(vm, to);
    this.moves.push({ vm, from, to, purpose });
    this.#vacated.push(from);
  }

  #tryAgain(): void {
    for (let host = this.#vacated.pop(); host !== undefined;) {
      const list = this.#waiting.get(host) ?? [];
      const still = list.filter((one) => !this.#try(one));
      if (still.length > 0) this.#waiting.set(host, still);
      else this.#waiting.delete(host);
      host = this.#vacated.pop();
    }
  }

  /**
   * @returns whether a waiting VM, whose host other VMs wait for, was moved to
   *   a third host
   */
  #breakCycle(): boolean {
    const targets = new Map(
      [...this.#waiting.values()].flat().map(({ vm, to }) => [vm, to]),
    );
    for (const vm of this.waiting) {
      const from = this.#assignment.hostOf[vm]!;
      if (this.detoured.has(vm) || !this.#waiting.has(from)) continue;
      const host = this.#thirdHost(vm, targets.get(vm)!);
      if (host < 0) continue;
      this.detoured.add(vm);
      this.#move(vm, host, "make-room");
      return true;
    }
    return false;
  }

  /**
   * The host with the most memory that is free both now and at the end; -1:
   * none.
   */
  #thirdHost(vm: number, to: number): number {
    const { hostOf, freeMemory, pool } = this.#assignment;
    if (this.#hostChecks > MAX_HOST_CHECKS) return -1;
    this.#hostChecks += pool.hosts.size;
    let found = -1;
    let most = -Infinity;
    for (let host = 0; host < pool.hosts.size; host++) {
      const free = Math.min(freeMemory[host]!, this.#freeAtEnd[host]!);
      if (host === to || host === hostOf[vm] || free <= most) continue;
      if (!this.#rules.allows(vm, host)) continue;
      found = host;
      most = free;
    }
    return found;
  }
}

function freeAtEnd(
  { pool, hostOf, freeMemory }: Assignment,
  requested: readonly TargetMove[],
): Float64Array {
  const free = freeMemory.slice();
  for (const { vm, to } of requested) {
    free[hostOf[vm]!]! += pool.vmMemory[vm]!;
    free[to]! -= pool.vmMemory[vm]!;
  }
  return free;
}
