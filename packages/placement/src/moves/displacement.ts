import type { Assignment } from "../assignment/assignment.js";
import type { Refusal } from "../model/refusal.js";
import { HostSelector } from "../place/host-selector.js";
import { refusalsOf } from "../rules/host-rules.js";
import { eligibility, state } from "../rules/eligibility.js";
import { cpu, pinned } from "../rules/running.js";
import { Residents } from "./residents.js";

/**
 * Maximum number of hosts tried for one unit, those with the most free memory
 * first.
 */
const MAX_HOSTS = 24;
/** Maximum number of ways to free capacity tried on one host. */
const MAX_ATTEMPTS_PER_HOST = 4;
/** Maximum number of VMs displaced for one unit. */
const MAX_DISPLACED = 4;
/** Maximum number of attempts in all. */
const MAX_ATTEMPTS = 2_000;

/** Rules that displacing other VMs cannot satisfy. */
const FIXED = [state, eligibility, cpu, pinned];

/** Places VMs that no host accepts by migrating running VMs to other hosts. */
export class Displacement {
  /** VMs that were migrated to free capacity. */
  readonly displaced = new Set<number>();
  readonly #assignment: Assignment;
  readonly #selector: HostSelector;
  readonly #mayMove: (vm: number) => boolean;
  #residents: Residents | undefined;
  #tried = 0;
  #maxDisplaced = MAX_DISPLACED;

  /**
   * @param assignment the target assignment; changed
   * @param mayMove whether a VM may be migrated
   */
  constructor(assignment: Assignment, mayMove: (vm: number) => boolean) {
    this.#assignment = assignment;
    this.#selector = new HostSelector(assignment);
    this.#mayMove = mayMove;
  }

  /**
   * @param unit unassigned VMs that must share a host
   * @param most maximum number of VMs to displace
   * @returns number of VMs displaced for the unit, which is then assigned;
   *   undefined: it could not be placed
   */
  place(unit: readonly number[], most = MAX_DISPLACED): number | undefined {
    this.#maxDisplaced = Math.min(most, MAX_DISPLACED);
    for (const host of this.#hostsFor(unit)) {
      const staying = new Set(unit);
      for (let way = 0; way < MAX_ATTEMPTS_PER_HOST; way++) {
        if (this.#tried++ > MAX_ATTEMPTS) return undefined;
        const found = this.#tryOn(host, unit, staying);
        if (typeof found === "number") return found;
        if (found === "impossible") break;
      }
    }
    return undefined;
  }

  /** Whether some host could run all of them if it were empty. */
  couldHost(unit: readonly number[]): boolean {
    return this.#assignment.pool.hosts.ids.some((_, host) =>
      this.#couldHostOn(unit, host),
    );
  }

  #couldHostOn(unit: readonly number[], host: number): boolean {
    return unit.every((vm) =>
      FIXED.every((rule) => rule.allows(this.#assignment, vm, host)),
    );
  }

  #hostsFor(unit: readonly number[]): readonly number[] {
    const { pool, freeMemory } = this.#assignment;
    const hosts = [...pool.hosts.ids.keys()].filter((host) =>
      this.#couldHostOn(unit, host),
    );
    hosts.sort((a, b) => freeMemory[b]! - freeMemory[a]! || a - b);
    return hosts.slice(0, MAX_HOSTS);
  }

  /**
   * @param staying VMs that were found to have no other host; a failure adds
   *   one
   */
  #tryOn(
    host: number,
    unit: readonly number[],
    staying: Set<number>,
  ): number | "again" | "retry" | "impossible" {
    const assignment = this.#assignment;
    const leaving: number[] = [];
    while (!this.#selector.allowsAll(unit, host)) {
      const next =
        leaving.length < this.#maxDisplaced
          ? this.#nextToDisplace(host, unit, staying)
          : undefined;
      if (next === undefined) {
        for (const vm of leaving) assignment.add(vm, host);
        return "impossible";
      }
      assignment.remove(next);
      leaving.push(next);
    }
    for (const vm of unit) assignment.add(vm, host);
    const stuck = this.#placeDisplaced(leaving, unit);
    if (stuck === undefined) {
      for (const vm of leaving) this.displaced.add(vm);
      for (const vm of [...unit, ...leaving]) this.#residents?.add(vm);
      return leaving.length;
    }
    for (const vm of unit) assignment.remove(vm);
    for (const vm of leaving) assignment.add(vm, host);
    staying.add(stuck);
    return "retry";
  }

  /**
   * Places displaced VMs with the unit still counted on its current host, which
   * avoids cyclic dependencies. If that fails, without.
   */
  #placeDisplaced(
    vms: readonly number[],
    unit: readonly number[],
  ): number | undefined {
    const { vmHost } = this.#assignment.pool;
    const movedUnit = unit.filter(
      (vm) => vmHost[vm]! !== this.#assignment.hostOf[vm],
    );
    for (const vm of movedUnit) this.#assignment.reserve(vm, vmHost[vm]!);
    const stuck = this.#placeAll(vms);
    for (const vm of movedUnit) this.#assignment.release(vm, vmHost[vm]!);
    return stuck === undefined ? undefined : this.#placeAll(vms);
  }

  /**
   * @returns the first VM that no host accepted, with all of them unassigned;
   *   undefined: all were placed
   */
  #placeAll(vms: readonly number[]): number | undefined {
    const placed: number[] = [];
    for (const vm of vms) {
      const host = this.#selector.select(vm);
      if (host < 0) {
        for (const one of placed) this.#assignment.remove(one);
        return vm;
      }
      this.#assignment.add(vm, host);
      placed.push(vm);
    }
    return undefined;
  }

  #nextToDisplace(
    host: number,
    unit: readonly number[],
    staying: ReadonlySet<number>,
  ): number | undefined {
    const { pool } = this.#assignment;
    this.#residents ??= new Residents(this.#assignment);
    const free = this.#residents
      .on(host)
      .filter((vm) => !staying.has(vm) && this.#canMove(vm))
      .sort((a, b) => pool.vmMemory[a]! - pool.vmMemory[b]! || a - b);
    const missing = this.#firstRefusal(host, unit);
    return missing === undefined ? undefined : this.#relieving(missing, free);
  }

  #canMove(vm: number): boolean {
    const { groups, vmModels } = this.#assignment.pool;
    return (
      vmModels[vm]!.pinned === undefined &&
      !groups.units.has(groups.unitOf[vm] ?? vm) &&
      this.#mayMove(vm)
    );
  }

  /** The first refusal when the VMs are added one after another. */
  #firstRefusal(host: number, unit: readonly number[]): Refusal | undefined {
    const assignment = this.#assignment;
    let missing: Refusal | undefined;
    let taken = 0;
    while (taken < unit.length) {
      [missing] = refusalsOf(assignment, unit[taken]!, host);
      if (missing !== undefined) break;
      assignment.add(unit[taken++]!, host);
    }
    for (const vm of unit.slice(0, taken)) assignment.remove(vm);
    return missing;
  }

  /** @param free VMs that may be migrated, by ascending memory */
  #relieving(missing: Refusal, free: readonly number[]): number | undefined {
    const { vms, vmMemory, vmModels, vmVcpus } = this.#assignment.pool;
    if (missing.rule === "memory")
      return free.find((vm) => vmMemory[vm]! >= missing.missing) ?? free.at(-1);
    if (missing.rule === "vcpus")
      return free.find((vm) => vmVcpus[vm]! >= missing.missing) ?? free.at(-1);
    if (missing.rule === "device")
      return free.find((vm) =>
        vmModels[vm]!.devices?.some(({ kind }) => kind === missing.kind),
      );
    if (missing.rule === "group")
      return free.find((vm) => vms.ids[vm] === missing.vm);
    return undefined;
  }
}
