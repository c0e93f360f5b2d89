import type { Layout } from "../layout/layout.js";
import type { Rule } from "../model/rule.js";
import { Chooser } from "../place/chooser.js";
import { refusalsOf } from "../rules/host-rules.js";
import { reach, state } from "../rules/reach.js";
import { cpu, pinned } from "../rules/running.js";
import { Residents } from "./residents.js";

/** Hosts that are tried for one VM, those that lack least first. */
const MOST_HOSTS = 24;
/** Ways to make room that are tried on one of them. */
const MOST_WAYS = 4;
/** VMs that make room for one. */
const MOST_LEAVING = 4;
/** Ways in all, before what is left has no place. */
const MOST_TRIED = 2_000;

/** Rules that no other VM has a part in. */
const FIXED = [state, reach, cpu, pinned];

/** Places VMs that no host takes as it is, by having others leave that run. */
export class RoomMaker {
  /** VMs that have left their hosts for others. */
  readonly gaveWay = new Set<number>();
  readonly #layout: Layout;
  readonly #chooser: Chooser;
  readonly #mayLeave: (vm: number) => boolean;
  #residents: Residents | undefined;
  #tried = 0;
  #most = MOST_LEAVING;

  /**
   * @param layout where all others should run; it is changed
   * @param mayLeave VMs that others may move
   */
  constructor(layout: Layout, mayLeave: (vm: number) => boolean) {
    this.#layout = layout;
    this.#chooser = new Chooser(layout);
    this.#mayLeave = mayLeave;
  }

  /**
   * @param unit VMs that have to be on one host and run nowhere
   * @param most VMs that may leave for them
   * @returns how many have left for them, which have a place now; undefined: they have none
   */
  place(unit: readonly number[], most = MOST_LEAVING): number | undefined {
    this.#most = Math.min(most, MOST_LEAVING);
    for (const host of this.#hostsFor(unit)) {
      const staying = new Set(unit);
      for (let way = 0; way < MOST_WAYS; way++) {
        if (this.#tried++ > MOST_TRIED) return undefined;
        const found = this.#tryOn(host, unit, staying);
        if (typeof found === "number") return found;
        if (found === "in vain") break;
      }
    }
    return undefined;
  }

  /** Whether some host could have them if nothing else ran. */
  isThinkable(unit: readonly number[]): boolean {
    return this.#layout.pool.hosts.ids.some((_, host) =>
      this.#isThinkableOn(unit, host),
    );
  }

  #isThinkableOn(unit: readonly number[], host: number): boolean {
    return unit.every((vm) =>
      FIXED.every((rule) => rule.allows(this.#layout, vm, host)),
    );
  }

  #hostsFor(unit: readonly number[]): readonly number[] {
    const { pool, freeMemory } = this.#layout;
    const hosts = [...pool.hosts.ids.keys()].filter((host) =>
      this.#isThinkableOn(unit, host),
    );
    hosts.sort((a, b) => freeMemory[b]! - freeMemory[a]! || a - b);
    return hosts.slice(0, MOST_HOSTS);
  }

  /** @param staying VMs that have proven not to find another host; one more if this fails for its sake */
  #tryOn(
    host: number,
    unit: readonly number[],
    staying: Set<number>,
  ): number | "again" | "in vain" {
    const layout = this.#layout;
    const leaving: number[] = [];
    while (!this.#chooser.allowsAll(unit, host)) {
      const next =
        leaving.length < this.#most
          ? this.#nextToLeave(host, unit, staying)
          : undefined;
      if (next === undefined) {
        for (const vm of leaving) layout.add(vm, host);
        return "in vain";
      }
      layout.remove(next);
      leaving.push(next);
    }
    for (const vm of unit) layout.add(vm, host);
    const stuck = this.#placeBeside(leaving, unit);
    if (stuck === undefined) {
      for (const vm of leaving) this.gaveWay.add(vm);
      for (const vm of [...unit, ...leaving]) this.#residents?.came(vm);
      return leaving.length;
    }
    for (const vm of unit) layout.remove(vm);
    for (const vm of leaving) layout.add(vm, host);
    staying.add(stuck);
    return "again";
  }

  /** As if the unit was still where it runs now: else VMs may have to wait for each other. If that is in vain, as if not. */
  #placeBeside(
    vms: readonly number[],
    unit: readonly number[],
  ): number | undefined {
    const { vmHost } = this.#layout.pool;
    const gone = unit.filter((vm) => vmHost[vm]! !== this.#layout.hostOf[vm]);
    for (const vm of gone) this.#layout.hold(vm, vmHost[vm]!);
    const stuck = this.#placeAll(vms);
    for (const vm of gone) this.#layout.release(vm, vmHost[vm]!);
    return stuck === undefined ? undefined : this.#placeAll(vms);
  }

  /** @returns the first that found no host, with none of them placed */
  #placeAll(vms: readonly number[]): number | undefined {
    const placed: number[] = [];
    for (const vm of vms) {
      const host = this.#chooser.choose(vm);
      if (host < 0) {
        for (const one of placed) this.#layout.remove(one);
        return vm;
      }
      this.#layout.add(vm, host);
      placed.push(vm);
    }
    return undefined;
  }

  #nextToLeave(
    host: number,
    unit: readonly number[],
    staying: ReadonlySet<number>,
  ): number | undefined {
    const { pool } = this.#layout;
    this.#residents ??= new Residents(this.#layout);
    const free = this.#residents
      .on(host)
      .filter((vm) => !staying.has(vm) && this.#canLeave(vm))
      .sort((a, b) => pool.vmMemory[a]! - pool.vmMemory[b]! || a - b);
    const lacks = this.#lacksOf(host, unit);
    return lacks === undefined ? undefined : this.#relieving(lacks, free);
  }

  #canLeave(vm: number): boolean {
    const { groups, vmModels } = this.#layout.pool;
    return (
      vmModels[vm]!.pinned === undefined &&
      !groups.units.has(groups.unitOf[vm] ?? vm) &&
      this.#mayLeave(vm)
    );
  }

  /** The first thing by which a host refuses VMs one after another. */
  #lacksOf(host: number, unit: readonly number[]): Rule | undefined {
    const layout = this.#layout;
    let lacks: Rule | undefined;
    let taken = 0;
    while (taken < unit.length) {
      [lacks] = refusalsOf(layout, unit[taken]!, host);
      if (lacks !== undefined) break;
      layout.add(unit[taken++]!, host);
    }
    for (const vm of unit.slice(0, taken)) layout.remove(vm);
    return lacks;
  }

  /** @param free VMs that may leave, small ones first */
  #relieving(lacks: Rule, free: readonly number[]): number | undefined {
    const { vms, vmMemory, vmModels, vmVcpus } = this.#layout.pool;
    if (lacks.rule === "memory")
      return free.find((vm) => vmMemory[vm]! >= lacks.lacks) ?? free.at(-1);
    if (lacks.rule === "vcpus")
      return free.find((vm) => vmVcpus[vm]! >= lacks.lacks) ?? free.at(-1);
    if (lacks.rule === "device")
      return free.find((vm) =>
        vmModels[vm]!.devices?.some(({ kind }) => kind === lacks.kind),
      );
    if (lacks.rule === "group")
      return free.find((vm) => vms.ids[vm] === lacks.vm);
    return undefined;
  }
}
