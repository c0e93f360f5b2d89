import type { BalancePlan } from "../model/balance.js";
import { UP } from "../pool/indexed-pool.js";
import type { BalanceSearch } from "./balance-search.js";
import { demandOf } from "./thresholds.js";
import { Overload } from "./overload.js";
import { findSwap } from "./swap.js";

/**
 * Maximum number of accepting targets compared per unit, the least used first.
 */
const MAX_COMPARED = 16;
/** Tolerance for comparing gains. */
const ROUNDING = 1e-12;

/**
 * Relieves overloaded hosts, the most overloaded first, while a move gains more
 * than it costs.
 */
export class OverloadRelief {
  readonly #search: BalanceSearch;
  readonly #overload: Overload;
  /** Hosts without a beneficial move since the last move. */
  readonly #stuck = new Set<number>();
  #hasMoved = false;
  #isOverLimit = false;

  constructor(search: BalanceSearch) {
    this.#search = search;
    this.#overload = new Overload(
      search.assignment.pool.hosts.size,
      search.thresholds,
    );
  }

  run(): BalancePlan["stopped"] {
    for (let host = this.#next(); host >= 0; host = this.#next()) {
      if (this.#search.movesLeft <= 0) return "max-migrations";
      const hasFound = this.#relieve(host);
      this.#hasMoved ||= hasFound;
      if (hasFound) this.#overload.endIfBelowLow(host);
      else this.#stuck.add(host);
    }
    if (this.#overload.hosts.length === 0) return "balanced";
    return this.#isOverLimit ? "max-migrations" : "no-beneficial-migration";
  }

  /** The most overloaded host; -1: done. */
  #next(): number {
    const host = this.#mostOverloaded();
    if (host >= 0) return host;
    const isNew = this.#hasMoved || this.#overload.endIfNotAboveHigh();
    this.#hasMoved = false;
    this.#stuck.clear();
    return isNew ? this.#mostOverloaded() : -1;
  }

  #mostOverloaded(): number {
    let worst = -1;
    let most = -Infinity;
    for (const host of this.#overload.hosts) {
      const overload = this.#overload.severityOf(host);
      if (this.#stuck.has(host) || overload < most) continue;
      if (overload === most && host > worst) continue;
      worst = host;
      most = overload;
    }
    return worst;
  }

  #relieve(host: number): boolean {
    const targets = this.#targets(host);
    const best = this.#bestMove(host, targets);
    if (best !== undefined) {
      this.#search.move(best.unit, best.to, "overload");
      return true;
    }
    if (this.#search.movesLeft < 2) {
      this.#isOverLimit = true;
      return false;
    }
    return findSwap(this.#search, this.#overload, { host, targets });
  }

  /** Hosts that have capacity of the overloaded resource, by ascending use. */
  #targets(from: number): readonly number[] {
    const { assignment, thresholds } = this.#search;
    const ofCpu = this.#overload.isRelievedOfCpu(from);
    const { pool } = assignment;
    return [...pool.hosts.ids.keys()]
      .filter(
        (host) =>
          host !== from &&
          pool.hostState[host] === UP &&
          thresholds.staysBelowLow(host),
      )
      .map((host) => ({
        host,
        share: ofCpu ? thresholds.cpu(host) : thresholds.memory(host),
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
    for (const unit of this.#search.unitsOn(from)) {
      if (unit.length > this.#search.movesLeft) {
        this.#isOverLimit = true;
        continue;
      }
      const found = this.#bestTarget({ unit, from, targets }, most);
      if (found === undefined) continue;
      best = { unit, to: found.to };
      most = found.net;
    }
    return best;
  }

  /** @param least minimum gain after cost */
  #bestTarget(
    { unit, from, targets }: TargetSearch,
    least: number,
  ): { readonly to: number; readonly net: number } | undefined {
    const { thresholds, assignment } = this.#search;
    const amount = demandOf(assignment.pool, unit);
    const cost = this.#search.costOf(unit);
    if (this.#overload.maxGain(from, amount) - cost <= least) return undefined;
    let most = least;
    let best = -1;
    let compared = 0;
    for (const to of this.#search.preferredTargets(targets, unit)) {
      if (!thresholds.staysBelowLow(to, amount)) continue;
      const net = this.#overload.gain(from, to, amount) - cost;
      const isBetter = net > most + ROUNDING;
      if (isBetter)
        if (
          !this.#search.accepts(to, unit) ||
          !this.#search.keepsPreferences(to, unit)
        )
          continue;
      if (isBetter) {
        best = to;
        most = net;
      }
      if (++compared >= MAX_COMPARED) break;
    }
    return best < 0 ? undefined : { to: best, net: most };
  }
}

interface TargetSearch {
  readonly unit: readonly number[];
  readonly from: number;
  readonly targets: readonly number[];
}
