import type { BalancePlan } from "../model/balance.js";
import { UP } from "../pool/indexed-pool.js";
import type { Balancing } from "./balancing.js";
import { amountOf } from "./bounds.js";
import { Heat } from "./heat.js";
import { findSwap } from "./swap.js";

/** Hosts that would take a VM, those with least to do first, that are compared. */
const COMPARED = 16;
/** Scores of moves differ in the last digits. */
const ROUNDING = 1e-12;

/** Relieves hosts that have too much to do, the hottest first, as long as a move gains more than it costs. */
export class Relief {
  readonly #work: Balancing;
  readonly #heat: Heat;
  /** Hosts for which nothing was found since a VM moved. */
  readonly #stuck = new Set<number>();
  #hasMoved = false;
  #isOverMost = false;

  constructor(work: Balancing) {
    this.#work = work;
    this.#heat = new Heat(work.layout.pool.hosts.size, work.bounds);
  }

  run(): BalancePlan["stopped"] {
    for (let host = this.#next(); host >= 0; host = this.#next()) {
      if (this.#work.left <= 0) return "most-moves";
      const hasFound = this.#relieve(host);
      this.#hasMoved ||= hasFound;
      if (hasFound) this.#heat.cool(host);
      else this.#stuck.add(host);
    }
    if (this.#heat.hosts.length === 0) return "balanced";
    return this.#isOverMost ? "most-moves" : "no-better";
  }

  /** The hottest; -1: there is nothing left to do. */
  #next(): number {
    const host = this.#hottest();
    if (host >= 0) return host;
    const isNew = this.#hasMoved || this.#heat.settle();
    this.#hasMoved = false;
    this.#stuck.clear();
    return isNew ? this.#hottest() : -1;
  }

  #hottest(): number {
    let hottest = -1;
    let most = -Infinity;
    for (const host of this.#heat.hosts) {
      const heat = this.#heat.of(host);
      if (this.#stuck.has(host) || heat < most) continue;
      if (heat === most && host > hottest) continue;
      hottest = host;
      most = heat;
    }
    return hottest;
  }

  #relieve(host: number): boolean {
    const targets = this.#targets(host);
    const best = this.#bestMove(host, targets);
    if (best !== undefined) {
      this.#work.move(best.unit, best.to, "overload");
      return true;
    }
    if (this.#work.left < 2) {
      this.#isOverMost = true;
      return false;
    }
    return findSwap(this.#work, this.#heat, { host, targets });
  }

  /** Hosts that have little to do of what this one has too much of, the least first. */
  #targets(from: number): readonly number[] {
    const { layout, bounds } = this.#work;
    const ofCpu = this.#heat.isRelievedOfCpu(from);
    const { pool } = layout;
    return [...pool.hosts.ids.keys()]
      .filter(
        (host) =>
          host !== from && pool.hostState[host] === UP && bounds.staysLow(host),
      )
      .map((host) => ({
        host,
        share: ofCpu ? bounds.cpu(host) : bounds.memory(host),
      }))
      .sort((a, b) => a.share - b.share || a.host - b.host)
      .map(({ host }) => host);
  }

  #bestMove(
    from: number,
    targets: readonly number[],
  ): { readonly unit: readonly number[]; readonly to: number } | undefined {
    let best: { unit: readonly number[]; to: number } | undefined;
    let most = ROUNDING;
    for (const unit of this.#work.unitsOn(from)) {
      if (unit.length > this.#work.left) {
        this.#isOverMost = true;
        continue;
      }
      const found = this.#bestTarget({ unit, from, targets }, most);
      if (found === undefined) continue;
      best = { unit, to: found.to };
      most = found.net;
    }
    return best;
  }

  /** @param least what it has to gain beyond its cost */
  #bestTarget(
    { unit, from, targets }: Search,
    least: number,
  ): { readonly to: number; readonly net: number } | undefined {
    const { bounds, layout } = this.#work;
    const amount = amountOf(layout.pool, unit);
    const cost = this.#work.costOf(unit);
    if (this.#heat.fall(from, amount) - cost <= least) return undefined;
    let most = least;
    let best = -1;
    let compared = 0;
    for (const to of this.#work.worthAsking(targets, unit)) {
      if (!bounds.staysLow(to, amount)) continue;
      const net = this.#heat.gain(from, to, amount) - cost;
      const isBetter = net > most + ROUNDING;
      if (isBetter)
        if (!this.#work.takes(to, unit) || !this.#work.isNoWorse(to, unit))
          continue;
      if (isBetter) {
        best = to;
        most = net;
      }
      if (++compared >= COMPARED) break;
    }
    return best < 0 ? undefined : { to: best, net: most };
  }
}

interface Search {
  readonly unit: readonly number[];
  readonly from: number;
  readonly targets: readonly number[];
}
