import { UP } from "../pool/indexed-pool.js";
import { greatestDivisor } from "../solver/fillable-memory.js";
import { requiredGroupsOf, type FailureModel } from "./failure-model.js";

/** Maximum number of eligibility classes. */
const MAX_CLASSES = 200;
/** Sizes are grouped into at most this many steps. */
const MAX_STEPS = 24;

/**
 * Proves that all sets of a number of failures are survived, or proves nothing.
 *
 * Suppose VMs are placed in descending size, each where it fits, and one of
 * size s finds no host. Then each of its n eligible hosts has less than s left,
 * and everything placed so far was at least as large. So if these hosts have at
 * least (n - 1) s more than the total of all failed VMs of size s or more,
 * every VM finds a host. When all sizes are multiples of one unit, "less than
 * s" is at most s minus one unit. Members of anti-affinity groups can block
 * hosts with at most the capacity of the freest ones. The worst set has the
 * hosts with the most free capacity plus demand.
 */
export class VolumeBound {
  readonly #model: FailureModel;
  /**
   * undefined: devices, VCPU limits or affinity matter, which the bound does
   * not cover.
   */
  readonly #classes: readonly EligibleHosts[] | undefined;
  /** Maximum number of hosts that anti-affinity can block for a VM. */
  readonly #blocked: number;
  readonly #unit: number;

  constructor(model: FailureModel) {
    const { now, kinds } = model;
    this.#model = model;
    const classes = isSimple(model) ? toClasses(model) : [];
    const isFew = isSimple(model) && classes.length <= MAX_CLASSES;
    this.#classes = isFew ? classes : undefined;
    this.#blocked = maxBlockedHosts(model);
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
    { open, isOpen }: EligibleHosts,
    { biggest, demand }: SizeStep,
    failures: number,
  ): boolean {
    const { alive, free } = this.#model;
    const shut = this.#blocked;
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

interface EligibleHosts {
  /** Hosts that are up and eligible for the class. */
  readonly open: readonly number[];
  readonly isOpen: Uint8Array;
  readonly steps: readonly SizeStep[];
}

/**
 * VMs up to the size `biggest`; `demand`: bytes of each host's VMs that are at
 * least as large as the smallest of the step.
 */
interface SizeStep {
  readonly biggest: number;
  readonly demand: Float64Array;
}

function isSimple({ now, kinds }: FailureModel): boolean {
  if (now.limits.vcpusPerCore !== undefined) return false;
  return kinds.every(
    (vm) =>
      now.pool.vmMemory[vm]! > 0 &&
      !now.pool.devices.ofVms.has(vm) &&
      requiredGroupsOf(now, vm, "affinity").length === 0,
  );
}

function toClasses(model: FailureModel): readonly EligibleHosts[] {
  const { now, kinds } = model;
  const { eligibility, vmMemory } = now.pool;
  const sizes = new Map<number, { vm: number; of: Set<number> }>();
  for (const vm of kinds) {
    const known = sizes.get(eligibility.classOf[vm]!) ?? { vm, of: new Set() };
    known.of.add(vmMemory[vm]!);
    sizes.set(eligibility.classOf[vm]!, known);
  }
  const demands = new Map<number, Float64Array>();
  return [...sizes.values()].map(({ vm, of }) => ({
    ...toOpen(model, vm),
    steps: toSteps(model, [...of], demands),
  }));
}

function toOpen(
  { now: { pool }, alive }: FailureModel,
  vm: number,
): Pick<EligibleHosts, "open" | "isOpen"> {
  const hosts = pool.eligibility.hostsOf(vm);
  const open = alive.filter(
    (host) => pool.hostState[host] === UP && hosts.has(host),
  );
  const isOpen = new Uint8Array(pool.hosts.size);
  for (const host of open) isOpen[host] = 1;
  return { open, isOpen };
}

function toSteps(
  model: FailureModel,
  sizes: readonly number[],
  demands: Map<number, Float64Array>,
): SizeStep[] {
  const falling = [...sizes].sort((a, b) => b - a);
  const width = Math.ceil(falling.length / MAX_STEPS);
  const steps: SizeStep[] = [];
  for (let at = 0; at < falling.length; at += width) {
    const least = falling[Math.min(at + width, falling.length) - 1]!;
    const demand = demands.get(least) ?? demandFrom(model, least);
    demands.set(least, demand);
    steps.push({ biggest: falling[at]!, demand });
  }
  return steps;
}

/** Memory of the VMs of at least this size, for each host, in bytes. */
function demandFrom(
  { now, restarting }: FailureModel,
  least: number,
): Float64Array {
  const { vmMemory } = now.pool;
  return Float64Array.from(restarting, (vms) =>
    vms.reduce(
      (sum, vm) => (vmMemory[vm]! >= least ? sum + vmMemory[vm]! : sum),
      0,
    ),
  );
}

function maxBlockedHosts({ now, kinds }: FailureModel): number {
  const { offsets } = now.pool.groups.vmsOf;
  const others = (group: number) => offsets[group + 1]! - offsets[group]! - 1;
  return kinds.reduce((most, vm) => {
    const groups = requiredGroupsOf(now, vm, "anti-affinity");
    return Math.max(
      most,
      groups.reduce((sum, one) => sum + others(one), 0),
    );
  }, 0);
}

function sum(numbers: Float64Array): number {
  return numbers.reduce((total, number) => total + number, 0);
}
