import type { Assignment } from "../assignment/assignment.js";
import { HostSelector } from "../place/host-selector.js";
import { addAll, removeAll } from "./greedy.js";
import type { Unit } from "./placing-order.js";

/** Maximum length of an ejection chain. */
const MAX_DEPTH = 3;
/** Maximum number of units ejected for one unit. */
const MAX_EJECTED = 3;

/**
 * Places units that no host accepts: others that this plan has placed are
 * ejected, and placed elsewhere, possibly by ejecting further units.
 */
export class EjectionChains {
  readonly #assignment: Assignment;
  readonly #selector: HostSelector;
  /** Units that may be ejected, by host. */
  readonly #placed: Set<Unit>[];
  /** Hosts from which units are being ejected; no unit is placed on them during that time. */
  readonly #closedHosts = new Set<number>();
  #budget: number;

  /** @param placed units that may be ejected */
  constructor(assignment: Assignment, placed: readonly Unit[], budget: number) {
    this.#assignment = assignment;
    this.#selector = new HostSelector(assignment);
    this.#budget = budget;
    this.#placed = assignment.pool.hosts.ids.map(() => new Set());
    for (const unit of placed) this.#placed[this.#hostOf(unit)]!.add(unit);
  }

  /**
   * @returns whether the unit was placed; if not, the assignment is unchanged
   */
  place(unit: Unit, depth = MAX_DEPTH): boolean {
    const direct = this.#selector.selectForUnit(unit);
    if (direct >= 0 && !this.#closedHosts.has(direct)) {
      this.#add(unit, direct);
      return true;
    }
    for (let host = 0; host < this.#placed.length && depth > 0; host++) {
      if (this.#closedHosts.has(host) || this.#placed[host]!.size === 0)
        continue;
      if (this.#budget-- <= 0) return false;
      if (this.#ejectFor(unit, host, depth)) return true;
    }
    return false;
  }

  #ejectFor(unit: Unit, host: number, depth: number): boolean {
    const out = this.#unitsToEject(unit, host);
    if (out.length === 0) return false;
    this.#closedHosts.add(host);
    for (const each of out) this.#remove(each);
    this.#add(unit, host);
    const moved: Unit[] = [];
    for (const each of out) {
      if (!this.place(each, depth - 1)) break;
      moved.push(each);
    }
    this.#closedHosts.delete(host);
    if (moved.length === out.length) return true;
    for (const each of moved) this.#remove(each);
    this.#remove(unit);
    for (const each of out) this.#add(each, host);
    return false;
  }

  /**
   * The smallest single unit whose ejection suffices, or a few. Empty: none
   * suffice.
   */
  #unitsToEject(unit: Unit, host: number): readonly Unit[] {
    const there = [...this.#placed[host]!].sort(
      (a, b) => this.#memoryOf(a) - this.#memoryOf(b) || a[0]! - b[0]!,
    );
    for (const each of there) {
      if (this.#budget-- <= 0) return [];
      removeAll(this.#assignment, each);
      const fits = this.#selector.allowsAll(unit, host);
      addAll(this.#assignment, each, host);
      if (fits) return [each];
    }
    return this.#firstUnitsToEject(there.reverse(), unit, host);
  }

  #firstUnitsToEject(
    there: readonly Unit[],
    unit: Unit,
    host: number,
  ): readonly Unit[] {
    const out: Unit[] = [];
    let fits = false;
    for (const each of there) {
      if (fits || out.length === MAX_EJECTED) break;
      removeAll(this.#assignment, each);
      out.push(each);
      fits = this.#selector.allowsAll(unit, host);
    }
    for (const each of out) addAll(this.#assignment, each, host);
    return fits ? out : [];
  }

  #memoryOf(unit: Unit): number {
    const { vmMemory } = this.#assignment.pool;
    return unit.reduce((sum, vm) => sum + vmMemory[vm]!, 0);
  }

  #hostOf(unit: Unit): number {
    return this.#assignment.hostOf[unit[0]!]!;
  }

  #add(unit: Unit, host: number): void {
    addAll(this.#assignment, unit, host);
    this.#placed[host]!.add(unit);
  }

  #remove(unit: Unit): void {
    this.#placed[this.#hostOf(unit)]!.delete(unit);
    removeAll(this.#assignment, unit);
  }
}
