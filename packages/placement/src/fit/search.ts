import { Packing } from "./packing.js";
import type { Problem } from "./problem.js";
import { toFilling, type Filling } from "./volumes.js";

/** found: the packing has all. none: there is no way. over: the budget is spent. */
export type Outcome = "found" | "none" | "over";

/** Deeper than so many units the search does not go. */
const MOST_UNITS = 1500;
/** Looks at a kind on a host that cost as much as one step. */
const LOOKS_PER_STEP = 256;

/**
 * Looks at all ways to place all units, depth first: the kind with the fewest
 * hosts first, the fullest host first. Each node of the search decides whether
 * one unit of a kind is on a host, or none of that kind is. A host that is the
 * same as one that has failed, with all that has been placed, fails as well.
 */
export class Search {
  readonly packing: Packing;
  readonly #cost: number;
  readonly #filling: Filling;
  #budget: number;

  /** @param budget steps; a node costs one or more, by the size of the problem */
  constructor(problem: Problem, budget: number) {
    this.packing = new Packing(problem);
    this.#budget = budget;
    this.#filling = toFilling(problem);
    this.#cost = Math.ceil(
      (problem.kinds.length * problem.hosts) / LOOKS_PER_STEP,
    );
  }

  /** Steps that are left. */
  get budget(): number {
    return Math.max(0, this.#budget);
  }

  run(): Outcome {
    return this.packing.unplaced > MOST_UNITS ? "over" : this.#descend();
  }

  #descend(): Outcome {
    const { packing } = this;
    if (packing.unplaced === 0) return "found";
    this.#budget -= this.#cost;
    if (this.#budget < 0) return "over";
    const kind = this.#hardest();
    if (kind < 0 || !this.#hasVolume()) return "none";
    const { hosts } = packing.problem;
    const forbidden: number[] = [];
    let outcome: Outcome = "none";
    for (const host of this.#hostsFor(kind)) {
      if (packing.allowed[kind * hosts + host] === 0) continue;
      packing.put(kind, host);
      outcome = this.#descend();
      if (outcome === "found") return outcome;
      packing.undo();
      if (outcome === "over") break;
      const same = this.#sameAs(kind, host);
      for (const each of same) packing.allowed[kind * hosts + each] = 0;
      forbidden.push(...same);
      if (this.#slotsOf(kind).slots < packing.left[kind]!) break;
    }
    for (const host of forbidden) packing.allowed[kind * hosts + host] = 1;
    return outcome;
  }

  /** The kind with the fewest hosts that take one; -1: one has too few for all that are left of it. */
  #hardest(): number {
    const { kinds } = this.packing.problem;
    let hardest = -1;
    let least = Infinity;
    for (let kind = 0; kind < kinds.length; kind++) {
      const left = this.packing.left[kind]!;
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

  /** Whether what is left fits into all hosts together. */
  #hasVolume(): boolean {
    const { packing } = this;
    const { kinds, hosts } = packing.problem;
    let needed = 0;
    for (let kind = 0; kind < kinds.length; kind++)
      needed += packing.left[kind]! * kinds[kind]!.memory;
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

  /** Hosts that what is left to be placed cannot tell from this one, and itself, if it is allowed there. */
  #sameAs(kind: number, host: number): number[] {
    const { packing } = this;
    const { hosts } = packing.problem;
    const same = [host];
    for (let other = 0; other < hosts; other++)
      if (
        other !== host &&
        packing.memory[other] === packing.memory[host] &&
        packing.allowed[kind * hosts + other] === 1 &&
        this.#isSame(other, host)
      )
        same.push(other);
    return same;
  }

  #isSame(a: number, b: number): boolean {
    const { packing } = this;
    const { kinds, hosts, apartGroups } = packing.problem;
    const { vcpus, devices, allowed, taken, left } = packing;
    if (vcpus[a] !== vcpus[b]) return false;
    for (let at = 0; at < devices.length; at += hosts)
      if (devices[at + a] !== devices[at + b]) return false;
    for (let group = 0; group < apartGroups; group++)
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
