import { Packing } from "./packing.js";
import type { PackingProblem } from "./problem.js";
import { toFillableMemory, type FillableMemory } from "./fillable-memory.js";

/**
 * found: all units are placed. none: proven infeasible. over: the budget was
 * spent.
 */
type SearchOutcome = "found" | "none" | "over";

/** Limit of the recursion depth. */
const MAX_UNITS = 1500;
/** Checks of a kind on a host that count as one step of the budget. */
const CHECKS_PER_STEP = 256;

/**
 * Complete depth-first search. Variable order: the kind with the fewest
 * eligible hosts first; value order: the fullest host first. Each node places
 * one unit of a kind on a host or excludes the host for the kind. Symmetry
 * breaking: a host equivalent to one that failed is not tried.
 */
export class DepthFirstSearch {
  readonly packing: Packing;
  readonly #cost: number;
  readonly #filling: FillableMemory;
  #budget: number;

  /**
   * @param budget steps; a node costs one or more, depending on the size of the
   *   problem
   */
  constructor(problem: PackingProblem, budget: number) {
    this.packing = new Packing(problem);
    this.#budget = budget;
    this.#filling = toFillableMemory(problem);
    this.#cost = Math.ceil(
      (problem.kinds.length * problem.hosts) / CHECKS_PER_STEP,
    );
  }

  /** Remaining steps. */
  get budget(): number {
    return Math.max(0, this.#budget);
  }

  run(): SearchOutcome {
    return this.packing.unplaced > MAX_UNITS ? "over" : this.#descend();
  }

  #descend(): SearchOutcome {
    const { packing } = this;
    if (packing.unplaced === 0) return "found";
    this.#budget -= this.#cost;
    if (this.#budget < 0) return "over";
    const kind = this.#mostConstrainedKind();
    if (kind < 0 || !this.#fitsByVolume()) return "none";
    const { hosts } = packing.problem;
    const forbidden: number[] = [];
    let outcome: SearchOutcome = "none";
    for (const host of this.#hostsFor(kind)) {
      if (packing.allowed[kind * hosts + host] === 0) continue;
      packing.put(kind, host);
      outcome = this.#descend();
      if (outcome === "found") return outcome;
      packing.undo();
      if (outcome === "over") break;
      const same = this.#equivalentHosts(kind, host);
      for (const each of same) packing.allowed[kind * hosts + each] = 0;
      forbidden.push(...same);
      if (this.#slotsOf(kind).slots < packing.remaining[kind]!) break;
    }
    for (const host of forbidden) packing.allowed[kind * hosts + host] = 1;
    return outcome;
  }

  /**
   * The kind with the fewest hosts that accept a unit; -1: some kind does not
   * fit any more.
   */
  #mostConstrainedKind(): number {
    const { kinds } = this.packing.problem;
    let hardest = -1;
    let least = Infinity;
    for (let kind = 0; kind < kinds.length; kind++) {
      const left = this.packing.remaining[kind]!;
      if (left === 0) continue;
      const { slots, options } = this.#slotsOf(kind);
      if (slots < left) return -1;
      const isBigger =
        options === least && kinds[kind]!.memory > kinds[hardest]!.memory;
      if (options > least || (options === least && !isBigger)) continue;
      hardest = kind;
      least = options;
    }
    return hardest;
  }

  #slotsOf(kind: number): { slots: number; options: number } {
    let slots = 0;
    let options = 0;
    for (let host = 0; host < this.packing.problem.hosts; host++) {
      const fit = this.packing.fits(kind, host);
      slots += fit;
      if (fit > 0) options++;
    }
    return { slots, options };
  }

  /** Whether the remaining units fit into the total memory left. */
  #fitsByVolume(): boolean {
    const { packing } = this;
    const { kinds, hosts } = packing.problem;
    let needed = 0;
    for (let kind = 0; kind < kinds.length; kind++)
      needed += packing.remaining[kind]! * kinds[kind]!.memory;
    let there = 0;
    for (let host = 0; host < hosts && there < needed; host++)
      there += this.#filling(packing.memory[host]!);
    return needed <= there + 1e-2 * hosts + needed * 1e-12;
  }

  #hostsFor(kind: number): number[] {
    const { packing } = this;
    const hosts: number[] = [];
    for (let host = 0; host < packing.problem.hosts; host++)
      if (packing.fits(kind, host) > 0) hosts.push(host);
    return hosts.sort((a, b) => packing.memory[a]! - packing.memory[b]!);
  }

  /**
   * Hosts that no remaining unit distinguishes from this one, including itself.
   */
  #equivalentHosts(kind: number, host: number): number[] {
    const { packing } = this;
    const { hosts } = packing.problem;
    const same = [host];
    for (let other = 0; other < hosts; other++)
      if (
        other !== host &&
        packing.memory[other] === packing.memory[host] &&
        packing.allowed[kind * hosts + other] === 1 &&
        this.#areEquivalent(other, host)
      )
        same.push(other);
    return same;
  }

  #areEquivalent(a: number, b: number): boolean {
    const { packing } = this;
    const { kinds, hosts, antiAffinityGroups } = packing.problem;
    const { vcpus, devices, allowed, taken, remaining: left } = packing;
    if (vcpus[a] !== vcpus[b]) return false;
    for (let at = 0; at < devices.length; at += hosts)
      if (devices[at + a] !== devices[at + b]) return false;
    for (let group = 0; group < antiAffinityGroups; group++)
      if (taken[group * hosts + a] !== taken[group * hosts + b]) return false;
    for (let kind = 0; kind < kinds.length; kind++)
      if (
        left[kind]! > 0 &&
        allowed[kind * hosts + a] !== allowed[kind * hosts + b]
      )
        return false;
    return true;
  }
}
