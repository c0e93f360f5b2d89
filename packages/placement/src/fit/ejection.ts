import type { Layout } from "../layout/layout.js";
import { Chooser } from "../place/chooser.js";
import { addAll, removeAll } from "./greedy.js";
import type { Unit } from "./placing-order.js";

/** A unit that gives way may make another one give way, and so on, so far. */
const DEEPEST = 3;
/** So many may give way to one at a time. */
const MOST_AT_ONCE = 3;

/**
 * Makes room for units that have no place: others that were placed in this
 * plan give way, each to a host that takes it, or where another gives way.
 */
export class Ejection {
  readonly #layout: Layout;
  readonly #chooser: Chooser;
  /** Units that may give way, by host. */
  readonly #placed: Set<Unit>[];
  /** Hosts that are being cleared; nothing goes there meanwhile. */
  readonly #closed = new Set<number>();
  #budget: number;

  /** @param placed those that may give way */
  constructor(layout: Layout, placed: readonly Unit[], budget: number) {
    this.#layout = layout;
    this.#chooser = new Chooser(layout);
    this.#budget = budget;
    this.#placed = layout.pool.hosts.ids.map(() => new Set());
    for (const unit of placed) this.#placed[this.#hostOf(unit)]!.add(unit);
  }

  /** @returns whether the unit, which has no place, has one now; if not, all is as it was */
  place(unit: Unit, depth = DEEPEST): boolean {
    const direct = this.#chooser.chooseForAll(unit);
    if (direct >= 0 && !this.#closed.has(direct)) {
      this.#add(unit, direct);
      return true;
    }
    for (let host = 0; host < this.#placed.length && depth > 0; host++) {
      if (this.#closed.has(host) || this.#placed[host]!.size === 0) continue;
      if (this.#budget-- <= 0) return false;
      if (this.#clear(unit, host, depth)) return true;
    }
    return false;
  }

  #clear(unit: Unit, host: number, depth: number): boolean {
    const out = this.#whoGivesWay(unit, host);
    if (out.length === 0) return false;
    this.#closed.add(host);
    for (const each of out) this.#remove(each);
    this.#add(unit, host);
    const moved: Unit[] = [];
    for (const each of out) {
      if (!this.place(each, depth - 1)) break;
      moved.push(each);
    }
    this.#closed.delete(host);
    if (moved.length === out.length) return true;
    for (const each of moved) this.#remove(each);
    this.#remove(unit);
    for (const each of out) this.#add(each, host);
    return false;
  }

  /** The one after which the unit fits, the smallest first; or a few. None: it cannot be. */
  #whoGivesWay(unit: Unit, host: number): readonly Unit[] {
    const there = [...this.#placed[host]!].sort(
      (a, b) => this.#memoryOf(a) - this.#memoryOf(b) || a[0]! - b[0]!,
    );
    for (const each of there) {
      if (this.#budget-- <= 0) return [];
      removeAll(this.#layout, each);
      const fits = this.#chooser.allowsAll(unit, host);
      addAll(this.#layout, each, host);
      if (fits) return [each];
    }
    return this.#fewOf(there.reverse(), unit, host);
  }

  #fewOf(there: readonly Unit[], unit: Unit, host: number): readonly Unit[] {
    const out: Unit[] = [];
    let fits = false;
    for (const each of there) {
      if (fits || out.length === MOST_AT_ONCE) break;
      removeAll(this.#layout, each);
      out.push(each);
      fits = this.#chooser.allowsAll(unit, host);
    }
    for (const each of out) addAll(this.#layout, each, host);
    return fits ? out : [];
  }

  #memoryOf(unit: Unit): number {
    const { vmMemory } = this.#layout.pool;
    return unit.reduce((sum, vm) => sum + vmMemory[vm]!, 0);
  }

  #hostOf(unit: Unit): number {
    return this.#layout.hostOf[unit[0]!]!;
  }

  #add(unit: Unit, host: number): void {
    addAll(this.#layout, unit, host);
    this.#placed[host]!.add(unit);
  }

  #remove(unit: Unit): void {
    this.#placed[this.#hostOf(unit)]!.delete(unit);
    removeAll(this.#layout, unit);
  }
}
