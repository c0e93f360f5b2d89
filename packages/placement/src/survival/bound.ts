import { UP } from "../pool/indexed-pool.js";
import { greatestDivisor } from "../fit/volumes.js";
import { strictGroupsOf, type Fleet } from "./fleet.js";

/** More kinds of reach than these are not looked at. */
const MOST_CLASSES = 200;
/** Sizes are looked at in so many steps. */
const MOST_STEPS = 24;

/**
 * Proves at once that all sets of so many failures are survived, or says no
 * more than that it cannot.
 *
 * If big VMs are placed before small ones, wherever they fit, and one of size s
 * finds no host, then each of the n hosts that it could reach has less than s
 * left, and what has been placed was at least as big. So as long as these
 * hosts have (n - 1) s more than all that is as big and has died needs, each
 * VM finds a host. Where all sizes are multiples of one, less than s is at
 * most s less that one. Members of "apart" groups may shut hosts with as much
 * as the freest have. The worst set is that of the hosts with most free and
 * dead together.
 */
export class VolumeBound {
  readonly #fleet: Fleet;
  /** undefined: devices, VCPUs or groups matter, of which it knows nothing. */
  readonly #classes: readonly ReachOf[] | undefined;
  /** Hosts that members of groups can shut to a VM, at most. */
  readonly #shut: number;
  readonly #unit: number;

  constructor(fleet: Fleet) {
    const { now, kinds } = fleet;
    this.#fleet = fleet;
    const classes = isSimple(fleet) ? toClasses(fleet) : [];
    const isFew = isSimple(fleet) && classes.length <= MOST_CLASSES;
    this.#classes = isFew ? classes : undefined;
    this.#shut = mostShut(fleet);
    const sizes = kinds.map((vm) => now.pool.vmMemory[vm]!);
    this.#unit = sizes.every(Number.isSafeInteger)
      ? sizes.reduce(greatestDivisor, 0)
      : 0;
  }

  holds(failures: number): boolean {
    return (
      this.#classes?.every((one) =>
        one.steps.every((step) => this.#holdsFor(one, step, failures)),
      ) ?? false
    );
  }

  #holdsFor(
    { open, isOpen }: ReachOf,
    { biggest, demand }: SizeStep,
    failures: number,
  ): boolean {
    const { alive, free } = this.#fleet;
    const shut = this.#shut;
    if (open.length <= failures + shut) return false;
    const usable = (host: number) => this.#inUnits(free[host]!);
    const frees = Float64Array.from(open, usable).sort().reverse();
    const lost = Float64Array.from(
      alive,
      (host) => demand[host]! + (isOpen[host] === 1 ? usable(host) : 0),
    );
    lost.sort().reverse();
    const spare =
      sum(frees) -
      sum(lost.subarray(0, failures)) -
      sum(frees.subarray(0, shut));
    const elsewhere = alive.length - open.length;
    const left = open.length - Math.max(0, failures - elsewhere);
    return spare > (left - 1) * biggest - left * this.#unit;
  }

  #inUnits(bytes: number): number {
    return this.#unit > 0 ? Math.floor(bytes / this.#unit) * this.#unit : bytes;
  }
}

interface ReachOf {
  /** Hosts that are up and have what the class asks for. */
  readonly open: readonly number[];
  readonly isOpen: Uint8Array;
  readonly steps: readonly SizeStep[];
}

/** VMs up to `biggest`, and bytes of each host's VMs that are as big as the smallest of the step. */
interface SizeStep {
  readonly biggest: number;
  readonly demand: Float64Array;
}

function isSimple({ now, kinds }: Fleet): boolean {
  if (now.limits.vcpusPerCore !== undefined) return false;
  return kinds.every(
    (vm) =>
      now.pool.vmMemory[vm]! > 0 &&
      !now.pool.devices.ofVms.has(vm) &&
      strictGroupsOf(now, vm, "together").length === 0,
  );
}

function toClasses(fleet: Fleet): readonly ReachOf[] {
  const { now, kinds } = fleet;
  const { reach, vmMemory } = now.pool;
  const sizes = new Map<number, { vm: number; of: Set<number> }>();
  for (const vm of kinds) {
    const known = sizes.get(reach.classOf[vm]!) ?? { vm, of: new Set() };
    known.of.add(vmMemory[vm]!);
    sizes.set(reach.classOf[vm]!, known);
  }
  const demands = new Map<number, Float64Array>();
  return [...sizes.values()].map(({ vm, of }) => ({
    ...toOpen(fleet, vm),
    steps: toSteps(fleet, [...of], demands),
  }));
}

function toOpen(
  { now: { pool }, alive }: Fleet,
  vm: number,
): Pick<ReachOf, "open" | "isOpen"> {
  const hosts = pool.reach.hostsOf(vm);
  const open = alive.filter(
    (host) => pool.hostState[host] === UP && hosts.has(host),
  );
  const isOpen = new Uint8Array(pool.hosts.size);
  for (const host of open) isOpen[host] = 1;
  return { open, isOpen };
}

function toSteps(
  fleet: Fleet,
  sizes: readonly number[],
  demands: Map<number, Float64Array>,
): SizeStep[] {
  const falling = [...sizes].sort((a, b) => b - a);
  const width = Math.ceil(falling.length / MOST_STEPS);
  const steps: SizeStep[] = [];
  for (let at = 0; at < falling.length; at += width) {
    const least = falling[Math.min(at + width, falling.length) - 1]!;
    const demand = demands.get(least) ?? demandFrom(fleet, least);
    demands.set(least, demand);
    steps.push({ biggest: falling[at]!, demand });
  }
  return steps;
}

/** Of each host, bytes of VMs that are as big or bigger. */
function demandFrom({ now, fallen }: Fleet, least: number): Float64Array {
  const { vmMemory } = now.pool;
  return Float64Array.from(fallen, (vms) =>
    vms.reduce(
      (sum, vm) => (vmMemory[vm]! >= least ? sum + vmMemory[vm]! : sum),
      0,
    ),
  );
}

function mostShut({ now, kinds }: Fleet): number {
  const { offsets } = now.pool.groups.vmsOf;
  const others = (group: number) => offsets[group + 1]! - offsets[group]! - 1;
  return kinds.reduce((most, vm) => {
    const groups = strictGroupsOf(now, vm, "apart");
    return Math.max(
      most,
      groups.reduce((sum, one) => sum + others(one), 0),
    );
  }, 0);
}

function sum(numbers: Float64Array): number {
  return numbers.reduce((total, number) => total + number, 0);
}
