import type { Layout } from "../layout/layout.js";
import { Chooser } from "../place/chooser.js";
import type { RepairOptions } from "./repair.js";
import { mostThere, unitWith } from "./units.js";
import { hasWishes, highestWish, putAll, takeAway, wishNow } from "./wishes.js";

/** What one move betters may let another be bettered; so often all are looked at. */
const MOST_PASSES = 8;
/** Sums of scores differ in the last digits. */
const ROUNDING = 1e-9;

/** Moves VMs to hosts that locations and groups like better, as long as there are any. */
export class Improvement {
  readonly #layout: Layout;
  readonly #mayMove: (vm: number) => boolean;
  readonly #chooser: Chooser;
  readonly #most: number;
  /** Moves so far. */
  #made = 0;

  /** @param layout as it is; as it should be afterwards */
  constructor(layout: Layout, { mayMove, most }: RepairOptions) {
    this.#layout = layout;
    this.#mayMove = mayMove;
    this.#chooser = new Chooser(layout);
    this.#most = most;
  }

  run(): void {
    if (!hasWishes(this.#layout.pool)) return;
    for (let pass = 0; pass < MOST_PASSES; pass++) {
      const before = this.#made;
      for (const vms of this.#partedGroups()) this.#gather(vms);
      for (const vm of this.#unhappy()) this.#improve(vm);
      if (this.#made === before) return;
    }
  }

  /** VMs whose wishes are not all met, the worst first. */
  #unhappy(): readonly number[] {
    const layout = this.#layout;
    const found: { vm: number; wish: number }[] = [];
    for (const [vm, host] of layout.hostOf.entries()) {
      if (host < 0 || !this.#mayMove(vm)) continue;
      const wish = wishNow(layout, vm);
      if (wish < highestWish(layout, vm) - ROUNDING) found.push({ vm, wish });
    }
    found.sort((a, b) => a.wish - b.wish || a.vm - b.vm);
    return found.map(({ vm }) => vm);
  }

  #improve(vm: number): void {
    const unit = unitWith(this.#layout, vm);
    if (unit.length > this.#most - this.#made || !unit.every(this.#mayMove))
      return;
    this.#moveIfBetter(unit, () => [this.#chooser.chooseForAll(unit)]);
  }

  /** Members of groups that wish to be together and are not. */
  #partedGroups(): readonly (readonly number[])[] {
    const { pool, hostOf } = this.#layout;
    const { models, vmsOf } = pool.groups;
    return models.flatMap(({ kind, strict }, group) => {
      if (strict || kind === "apart") return [];
      const row = vmsOf.values.subarray(
        vmsOf.offsets[group],
        vmsOf.offsets[group + 1],
      );
      const vms = [...row].filter((vm) => hostOf[vm]! >= 0);
      return vms.some((vm) => hostOf[vm] !== hostOf[vms[0]!]) ? [vms] : [];
    });
  }

  /** All to the host with most of them that takes all, if that is better. */
  #gather(vms: readonly number[]): void {
    const { hostOf } = this.#layout;
    const hosts = mostThere(this.#layout, vms);
    for (const host of hosts) {
      const away = vms
        .filter((vm) => hostOf[vm] !== host)
        .flatMap((vm) => unitWith(this.#layout, vm));
      const unit = [...new Set(away)];
      if (unit.length > this.#most - this.#made || !unit.every(this.#mayMove))
        continue;
      if (this.#moveIfBetter(unit, () => [host])) return;
    }
  }

  /**
   * @param hostsFor asked when the VMs run nowhere; -1: none
   * @returns whether they have moved
   */
  #moveIfBetter(
    unit: readonly number[],
    hostsFor: () => readonly number[],
  ): boolean {
    const layout = this.#layout;
    const before = new Map(unit.map((vm) => [vm, layout.hostOf[vm]!]));
    const wish = takeAway(layout, unit);
    for (const host of hostsFor()) {
      if (host < 0 || !this.#chooser.allowsAll(unit, host)) continue;
      if (putAll(layout, unit, () => host) > wish + ROUNDING) {
        this.#made += unit.filter((vm) => before.get(vm) !== host).length;
        return true;
      }
      for (const vm of unit) layout.remove(vm);
    }
    putAll(layout, unit, (vm) => before.get(vm)!);
    return false;
  }
}
