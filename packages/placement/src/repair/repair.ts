import type { Layout } from "../layout/layout.js";
import { RoomMaker } from "../moves/make-room.js";
import { Chooser } from "../place/chooser.js";
import { crowds, isMislocated, mislocated, parted } from "./breaches.js";
import { mostThere, unitWith } from "./units.js";
import { putAll, takeAway, wishNow } from "./wishes.js";

/** What is mended makes room for more; so often it is tried again. */
const MOST_PASSES = 4;

export interface RepairOptions {
  readonly mayMove: (vm: number) => boolean;
  /** VMs that may move in all. */
  readonly most: number;
}

/** Moves VMs until no strict group and no location forbids where they are, as few as it can. */
export class Repair {
  readonly #layout: Layout;
  readonly #options: RepairOptions;
  readonly #chooser: Chooser;
  readonly #rooms: RoomMaker;
  /** Moves so far. */
  #made = 0;

  /** @param layout as it is; as it should be afterwards */
  constructor(layout: Layout, options: RepairOptions) {
    this.#layout = layout;
    this.#options = options;
    this.#chooser = new Chooser(layout);
    this.#rooms = new RoomMaker(layout, options.mayMove);
  }

  /** @returns VMs that are still against a rule: of each crowd, all but one */
  run(): readonly number[] {
    for (let pass = 0; pass < MOST_PASSES; pass++) {
      const before = this.#made;
      for (const vm of mislocated(this.#layout)) this.#settle(vm);
      for (const unit of parted(this.#layout)) this.#moveUnit(unit);
      for (const { host, vms } of crowds(this.#layout)) this.#thin(host, vms);
      if (this.#made === before) break;
    }
    return this.#broken();
  }

  purposeOf(vm: number): "repair" | "make-room" {
    return this.#rooms.gaveWay.has(vm) ? "make-room" : "repair";
  }

  /** VMs that may still move. */
  get left(): number {
    return this.#options.most - this.#made;
  }

  /** Whether a host could have a VM with its unit if nothing else ran. */
  isThinkable(vm: number): boolean {
    return this.#rooms.isThinkable(unitWith(this.#layout, vm));
  }

  /** A VM that moved with its unit before may be well by now. */
  #settle(vm: number): void {
    if (isMislocated(this.#layout, vm))
      this.#moveUnit(unitWith(this.#layout, vm));
  }

  /** All but one leave, those that score worst first; of equal ones those with less memory. */
  #thin(host: number, vms: readonly number[]): void {
    const { hostOf, pool } = this.#layout;
    const key = new Map(vms.map((vm) => [vm, wishNow(this.#layout, vm)]));
    const order = [...vms].sort(
      (a, b) =>
        key.get(a)! - key.get(b)! ||
        unitWith(this.#layout, a).length - unitWith(this.#layout, b).length ||
        pool.vmMemory[a]! - pool.vmMemory[b]! ||
        a - b,
    );
    for (const vm of order) {
      if (order.filter((one) => hostOf[one] === host).length < 2) return;
      if (hostOf[vm] === host) this.#moveUnit(unitWith(this.#layout, vm));
    }
  }

  /** To the host with most of them that takes all, else to the best one; else others make room. */
  #moveUnit(unit: readonly number[]): void {
    const { hostOf } = this.#layout;
    if (unit.length > this.left || !unit.every(this.#options.mayMove)) return;
    const before = new Map(unit.map((vm) => [vm, hostOf[vm]!]));
    const hosts = mostThere(this.#layout, unit);
    takeAway(this.#layout, unit);
    const there = hosts.find((host) => this.#chooser.allowsAll(unit, host));
    const host = there ?? this.#chooser.chooseForAll(unit);
    if (host >= 0) putAll(this.#layout, unit, () => host);
    else {
      const others = this.#rooms.place(unit, this.left - unit.length);
      if (others === undefined)
        putAll(this.#layout, unit, (vm) => before.get(vm)!);
      else this.#made += others;
    }
    this.#made += unit.filter((vm) => hostOf[vm] !== before.get(vm)).length;
  }

  #broken(): readonly number[] {
    const rest = new Set([
      ...mislocated(this.#layout),
      ...parted(this.#layout).flat(),
      ...crowds(this.#layout).flatMap(({ vms }) => vms.slice(1)),
    ]);
    return [...rest].sort((a, b) => a - b);
  }
}
