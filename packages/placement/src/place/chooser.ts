import type { Layout } from "../layout/layout.js";
import type { HostRule } from "../rules/host-rule.js";
import { allows, rulesFor } from "../rules/host-rules.js";
import { groupScore, locationScore } from "./score.js";

/** Up to so many hosts are all looked at; of more, the best by room until enough are found. */
const FEW_HOSTS = 128;
/** Of many hosts, so many that take a VM are compared. */
const COMPARED = 16;

/**
 * Finds the host where a VM is best placed: the one that locations and groups
 * like best; of equal ones that with the most room (the least, where the
 * layout packs); of equal ones the first by id.
 */
export class Chooser {
  readonly #layout: Layout;
  readonly #rules: readonly HostRule[];
  readonly #hasWishes: boolean;
  #host = -1;
  #wish = 0;
  #room = 0;

  constructor(layout: Layout) {
    this.#layout = layout;
    this.#rules = rulesFor(layout);
    const { groups, locations } = layout.pool;
    this.#hasWishes =
      locations.soft.values.length > 0 ||
      groups.models.some(({ strict }) => !strict);
  }

  allows(vm: number, host: number): boolean {
    return allows(this.#rules, this.#layout, vm, host);
  }

  /** @returns a host that takes the VM, which runs nowhere; -1: none does */
  choose(vm: number): number {
    this.#host = -1;
    const hosts = this.#layout.pool.hosts.size;
    if (hosts <= FEW_HOSTS) this.#lookAtAll(vm);
    else this.#lookAtBest(vm);
    return this.#host;
  }

  /**
   * The same for VMs that have to be on one host.
   * @returns a host that takes them all; -1: none does
   */
  chooseForAll(vms: readonly number[]): number {
    if (vms.length === 1) return this.choose(vms[0]!);
    let chosen = -1;
    let best = { wish: 0, room: 0 };
    for (let host = 0; host < this.#layout.pool.hosts.size; host++) {
      if (!this.allowsAll(vms, host)) continue;
      const wish = vms.reduce((sum, vm) => sum + this.#wishFor(vm, host), 0);
      const room = this.#roomWith(vms, host);
      if (chosen >= 0 && !this.#isBetter(wish, room, best)) continue;
      chosen = host;
      best = { wish, room };
    }
    return chosen;
  }

  /** Whether a host takes VMs one after another. */
  allowsAll(vms: readonly number[], host: number): boolean {
    const layout = this.#layout;
    let taken = 0;
    while (taken < vms.length && this.allows(vms[taken]!, host))
      layout.add(vms[taken++]!, host);
    for (const vm of vms.slice(0, taken)) layout.remove(vm);
    return taken === vms.length;
  }

  #lookAtAll(vm: number): void {
    const { pool } = this.#layout;
    for (let host = 0; host < pool.hosts.size; host++) this.#consider(vm, host);
  }

  /**
   * Hosts that something likes first; then those by room, without the ones
   * that something dislikes; if all that is in vain, each of them.
   */
  #lookAtBest(vm: number): void {
    if (this.#hasWishes)
      for (const host of this.#likedBy(vm)) this.#consider(vm, host);
    if (this.#host >= 0 && this.#wish > 0) return;
    const { tree, pool, order } = this.#layout;
    let compared = 0;
    tree.visit(pool.vmMemory[vm]!, (host, key) => {
      // With the VM there is less room than without: no later one can win.
      if (order === "spread" && this.#host >= 0 && this.#wish >= 0)
        if (key < this.#room) return true;
      if (this.#hasWishes && this.#wishFor(vm, host) < 0) return false;
      if (this.#consider(vm, host)) compared++;
      return compared >= COMPARED;
    });
    if (this.#host < 0 && this.#hasWishes) this.#lookAtAll(vm);
  }

  /** @returns whether the host takes it */
  #consider(vm: number, host: number): boolean {
    if (!this.allows(vm, host)) return false;
    const { vmMemory, vmLoad } = this.#layout.pool;
    const wish = this.#wishFor(vm, host);
    const room = this.#layout.roomOf(host, vmMemory[vm], vmLoad[vm]);
    const best = { wish: this.#wish, room: this.#room };
    const isFirst = this.#host < 0;
    if (!isFirst && !this.#isBetter(wish, room, best)) return true;
    if (!isFirst && wish === this.#wish && room === this.#room)
      if (host > this.#host) return true;
    this.#host = host;
    this.#wish = wish;
    this.#room = room;
    return true;
  }

  #isBetter(
    wish: number,
    room: number,
    than: { wish: number; room: number },
  ): boolean {
    if (wish !== than.wish) return wish > than.wish;
    return this.#layout.order === "spread"
      ? room > than.room
      : room < than.room;
  }

  #wishFor(vm: number, host: number): number {
    if (!this.#hasWishes) return 0;
    return (
      locationScore(this.#layout, vm, host) + groupScore(this.#layout, vm, host)
    );
  }

  #roomWith(vms: readonly number[], host: number): number {
    const { vmMemory, vmLoad } = this.#layout.pool;
    const sum = (of: Float64Array) =>
      vms.reduce((total, vm) => total + of[vm]!, 0);
    return this.#layout.roomOf(host, sum(vmMemory), sum(vmLoad));
  }

  #likedBy(vm: number): Set<number> {
    const { pool, hostOf } = this.#layout;
    const { locations, groups } = pool;
    const liked = new Set<number>();
    for (const location of row(locations.soft, vm))
      for (const host of locations.byNumber[location]!.hosts) liked.add(host);
    for (const group of row(groups.groupsOf, vm)) {
      const { strict, kind } = groups.models[group]!;
      if (strict || kind === "apart") continue;
      for (const other of row(groups.vmsOf, group))
        if (hostOf[other]! >= 0) liked.add(hostOf[other]!);
    }
    return liked;
  }
}

function row(
  { offsets, values }: { offsets: Int32Array; values: Int32Array },
  number: number,
): Int32Array {
  return values.subarray(offsets[number] ?? 0, offsets[number + 1] ?? 0);
}
