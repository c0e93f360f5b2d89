import type { Layout } from "../layout/layout.js";
import type { Purpose } from "../model/plan.js";
import type { Move, Wanted } from "./move.js";
import { StepRules } from "./step-rules.js";

/** Hosts that are asked for room for stop-overs, in all, before cycles are left as they are. */
const MOST_ASKED = 1_000_000;

/**
 * Does moves one by one, each as soon as its host takes it: those that wait
 * are tried again when a VM has left that host. Of a cycle one VM goes by way
 * of a third host.
 */
export class Sequence {
  readonly moves: Move[] = [];
  /** VMs that have made a stop-over. */
  readonly strayed = new Set<number>();
  readonly #layout: Layout;
  readonly #rules: StepRules;
  readonly #waiting = new Map<number, Wanted[]>();
  /** Hosts that VMs have left since those that wait were last tried. */
  readonly #left: number[] = [];
  /** Of each host, bytes, once all is done. */
  readonly #freeAtEnd: Float64Array;
  #asked = 0;

  /** @param layout as it is now; it has what could be moved afterwards */
  constructor(layout: Layout, wanted: readonly Wanted[]) {
    this.#layout = layout;
    this.#rules = new StepRules(layout);
    this.#freeAtEnd = freeAtEnd(layout, wanted);
    for (const one of wanted) {
      if (!this.#try(one)) this.#wait(one);
      this.#tryAgain();
    }
    while (this.#breakCycle()) this.#tryAgain();
  }

  /** VMs that cannot go where they should, the least first. */
  get waiting(): readonly number[] {
    const { vmMemory } = this.#layout.pool;
    return [...this.#waiting.values()]
      .flatMap((list) => list.map(({ vm }) => vm))
      .sort((a, b) => vmMemory[a]! - vmMemory[b]! || a - b);
  }

  #wait(one: Wanted): void {
    const list = this.#waiting.get(one.to);
    if (list === undefined) this.#waiting.set(one.to, [one]);
    else list.push(one);
  }

  #try({ vm, to, purpose }: Wanted): boolean {
    if (!this.#rules.allows(vm, to)) return false;
    this.#move(vm, to, purpose);
    return true;
  }

  #move(vm: number, to: number, purpose: Purpose): void {
    const from = this.#layout.hostOf[vm]!;
    this.#layout.remove(vm);
    this.#layout.add(vm, to);
    this.moves.push({ vm, from, to, purpose });
    this.#left.push(from);
  }

  #tryAgain(): void {
    for (let host = this.#left.pop(); host !== undefined;) {
      const list = this.#waiting.get(host) ?? [];
      const still = list.filter((one) => !this.#try(one));
      if (still.length > 0) this.#waiting.set(host, still);
      else this.#waiting.delete(host);
      host = this.#left.pop();
    }
  }

  /** @returns whether a VM that waits, and whose place others wait for, has gone to a third host */
  #breakCycle(): boolean {
    const targets = new Map(
      [...this.#waiting.values()].flat().map(({ vm, to }) => [vm, to]),
    );
    for (const vm of this.waiting) {
      const from = this.#layout.hostOf[vm]!;
      if (this.strayed.has(vm) || !this.#waiting.has(from)) continue;
      const host = this.#thirdHost(vm, targets.get(vm)!);
      if (host < 0) continue;
      this.strayed.add(vm);
      this.#move(vm, host, "make-room");
      return true;
    }
    return false;
  }

  /** The one with the most memory that nobody needs, now and at the end; -1: none. */
  #thirdHost(vm: number, to: number): number {
    const { hostOf, freeMemory, pool } = this.#layout;
    if (this.#asked > MOST_ASKED) return -1;
    this.#asked += pool.hosts.size;
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
  { pool, hostOf, freeMemory }: Layout,
  wanted: readonly Wanted[],
): Float64Array {
  const free = freeMemory.slice();
  for (const { vm, to } of wanted) {
    free[hostOf[vm]!]! += pool.vmMemory[vm]!;
    free[to]! -= pool.vmMemory[vm]!;
  }
  return free;
}
