import type { Layout } from "../layout/layout.js";
import type { BalancePolicy } from "../model/balance.js";
import type { Purpose } from "../model/plan.js";
import type { Move } from "../moves/move.js";
import { Residents } from "../moves/residents.js";
import { Chooser } from "../place/chooser.js";
import { hasWishes, likedHosts, wishGain, wishNow } from "../repair/wishes.js";
import { amountOf, Bounds } from "./bounds.js";
import { toMayMove, unitsOn } from "./movable.js";

const GIB = 2 ** 30;

/** What a search for better places works on: the layout so far, the moves that led to it, and what the policy says of the next. */
export class Balancing {
  readonly layout: Layout;
  readonly policy: BalancePolicy;
  readonly bounds: Bounds;
  readonly chooser: Chooser;
  readonly mayMove: (vm: number) => boolean;
  readonly hasWishes: boolean;
  /** Each can be done when those before it have been. */
  readonly moves: Move[] = [];
  readonly #most: number;
  readonly #residents: Residents;

  /** @param most moves that may still be made */
  constructor(layout: Layout, policy: BalancePolicy, most: number) {
    this.layout = layout;
    this.policy = policy;
    this.bounds = new Bounds(layout, policy);
    this.chooser = new Chooser(layout);
    this.mayMove = toMayMove(layout.pool, policy.excluded);
    this.hasWishes = hasWishes(layout.pool);
    this.#most = most;
    this.#residents = new Residents(layout);
  }

  get left(): number {
    return this.#most - this.moves.length;
  }

  /** What can leave a host as one. */
  unitsOn(host: number): readonly (readonly number[])[] {
    return unitsOn(this.layout, this.#residents, host).filter((unit) =>
      unit.every(this.mayMove),
    );
  }

  /** How many run on a host, whether they can leave or not. */
  countOn(host: number): number {
    return this.#residents.on(host).length;
  }

  costOf(vms: readonly number[]): number {
    const { memory } = amountOf(this.layout.pool, vms);
    return (this.policy.moveCost * memory) / GIB;
  }

  /** Whether a host takes VMs that run elsewhere, one after another. */
  takes(host: number, unit: readonly number[]): boolean {
    if (unit.length === 1) return this.chooser.allows(unit[0]!, host);
    const from = unit.map((vm) => this.layout.hostOf[vm]!);
    for (const vm of unit) this.layout.remove(vm);
    const takes = this.chooser.allowsAll(unit, host);
    for (const [index, vm] of unit.entries()) this.layout.add(vm, from[index]!);
    return takes;
  }

  /** Whether wishes are met there no less than where they run. */
  isNoWorse(host: number, unit: readonly number[]): boolean {
    return !this.hasWishes || this.wishGain(host, unit) >= 0;
  }

  /** Of hosts, those where wishes may be met no less than where these VMs run; in their order. */
  worthAsking(
    hosts: readonly number[],
    unit: readonly number[],
  ): readonly number[] {
    const [vm] = unit;
    if (!this.hasWishes || unit.length > 1 || vm === undefined) return hosts;
    if (wishNow(this.layout, vm) <= 0) return hosts;
    const liked = likedHosts(this.layout, vm);
    return hosts.filter((host) => liked.has(host));
  }

  wishGain(host: number, unit: readonly number[]): number {
    if (unit.length === 1) return wishGain(this.layout, unit[0]!, host);
    const from = unit.map((vm) => this.layout.hostOf[vm]!);
    let gain = 0;
    for (const vm of unit) {
      gain += wishGain(this.layout, vm, host);
      this.#put(vm, host);
    }
    for (const [index, vm] of unit.entries()) this.#put(vm, from[index]!);
    return gain;
  }

  move(unit: readonly number[], to: number, purpose: Purpose): void {
    for (const vm of unit) {
      const from = this.layout.hostOf[vm]!;
      this.#put(vm, to);
      this.#residents.came(vm);
      this.moves.push({ vm, from, to, purpose });
    }
  }

  /** Takes back the last moves. */
  undo(count: number): void {
    for (let one = 0; one < count; one++) {
      const { vm, from } = this.moves.pop()!;
      this.#put(vm, from);
      this.#residents.came(vm);
    }
  }

  #put(vm: number, host: number): void {
    this.layout.remove(vm);
    this.layout.add(vm, host);
  }
}
