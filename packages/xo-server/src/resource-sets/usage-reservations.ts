import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { ResourceSet, Store } from "@xo-server/store";
import { LocalReservations } from "../reservations/local-reservations.js";
import type {
  Reservation,
  Reservations,
} from "../reservations/reservations.js";
import type { ResourceUsage } from "../vms/limits/resource-sets.js";
import { poolsOf } from "./pools-of.js";
import {
  noUsage,
  readUsage,
  type SetUsage,
  type UsageSources,
} from "./set-usage.js";

export interface UsageReservationsOptions extends UsageSources {
  readonly store: Pick<Store, "resourceSets">;
  readonly clock: Pick<WallClock, "now">;
  /** Default: reservations of a single server. */
  readonly reservations?: Reservations<ReservedUsage>;
  /**
   * Waits until the mirror shows the current state of the pool of an object; false:
   * that failed. Default: resolves immediately.
   */
  readonly caughtUp?: (id: string) => Promise<boolean>;
}

/** Maximum time for which a VM is reserved until the mirror shows it, in ms. */
export const VM_RESERVATION_MS = 3600 * 1000;

/** Maximum time for which the growth of a VM is reserved, in ms. */
const GROWTH_RESERVATION_MS = 60 * 1000;

/** A reserved part of a resource set. */
export interface ReservedUsage extends ResourceUsage {
  /** Set when the VM was created. */
  readonly vmId?: string;
  /** The usage of an existing VM after its growth. */
  readonly expected?: ResourceUsage;
}

export const usageNames = ["cpus", "memory", "disk", "snapshots"] as const;

/** Reserves parts of resource sets for VMs, from the request until the mirror shows the VM. */
export class UsageReservations {
  readonly #options: UsageReservationsOptions;
  readonly #reservations: Reservations<ReservedUsage>;

  constructor(options: UsageReservationsOptions) {
    this.#options = options;
    this.#reservations =
      options.reservations ?? new LocalReservations(options.clock);
  }

  /**
   * @param vm an existing VM that grows, or that is moved to the set; absent: a new
   * VM
   * @throws XoError RESOURCES_EXHAUSTED
   */
  reserve(
    setId: string,
    requested: ResourceUsage,
    vm: {
      readonly grown?: string | undefined;
      readonly moved?: string | undefined;
    } = {},
  ): Promise<Reservation<ReservedUsage>> {
    const { grown, moved } = vm;
    return this.#reservations.reserve(`resourceSet/${setId}`, {
      caughtUp: () => this.#haveCaughtUp(setId),
      read: async () => (await readUsage(this.#options)).get(setId) ?? noUsage,
      isObsolete: (one, used) => this.#unseenPartOf(one, used) === undefined,
      toBody: (used, others) => {
        this.#checkLeft(setId, sumOf(used, this.#unseenPartsOf(others, used)), {
          ...amountsOf(requested),
          vms: grown === undefined ? (requested.vms ?? 1) : 0,
        });
        if (grown === undefined)
          return moved === undefined
            ? requested
            : { ...requested, vmId: moved };
        const expected = addUsage(used.byVm.get(grown), requested);
        return { ...requested, vmId: grown, expected };
      },
    });
  }

  /** @throws XoError RESOURCES_EXHAUSTED */
  #checkLeft(
    setId: string,
    sum: Readonly<Record<string, number>>,
    requested: Readonly<Record<string, number>>,
  ): void {
    const limits = this.#options.store.resourceSets.get(setId)?.limits ?? {};
    for (const [name, amount] of Object.entries(requested)) {
      const left = limitOf(limits, name) - sum[name]!;
      if (amount > 0 && amount > left)
        throw new XoError("RESOURCES_EXHAUSTED", {
          resourceSet: setId,
          resourceType: name,
          requested: amount,
          available: Math.max(0, left),
        });
    }
  }

  /** To be called when the VM exists, or has grown: the mirror then counts it. */
  async settle(
    taken: readonly Reservation<ReservedUsage>[],
    vmId: string,
  ): Promise<void> {
    const { caughtUp } = this.#options;
    await Promise.all(
      taken.map((one) =>
        this.#reservations.settle(
          one,
          { ...one.body, vmId },
          caughtUp && (() => caughtUp(vmId)),
        ),
      ),
    );
  }

  /** To be called when the VM was not created, or has not grown. */
  release(taken: Reservation<ReservedUsage>): Promise<void> {
    return this.#reservations.drop(taken);
  }

  /** Whether the mirror shows the current state of the pools of a set. */
  async #haveCaughtUp(setId: string): Promise<boolean> {
    const {
      catalog,
      store,
      caughtUp = () => Promise.resolve(true),
    } = this.#options;
    const { objects = [] } = store.resourceSets.get(setId) ?? {};
    const all = await Promise.all(poolsOf(catalog, objects).map(caughtUp));
    return all.every(Boolean);
  }

  #unseenPartsOf(
    reservations: readonly Reservation<ReservedUsage>[],
    used: SetUsage,
  ): readonly ResourceUsage[] {
    return reservations.flatMap((one) => this.#unseenPartOf(one, used) ?? []);
  }

  /** Part of a reservation that the mirror does not contain yet; undefined: none. */
  #unseenPartOf(
    { madeAt, body }: Reservation<ReservedUsage>,
    { byVm }: SetUsage,
  ): ResourceUsage | undefined {
    const { vmId = "", expected } = body;
    const now = this.#options.clock.now();
    const seen = byVm.get(vmId);
    if (expected === undefined)
      return seen !== undefined || madeAt < now - VM_RESERVATION_MS
        ? undefined
        : body;
    if (seen === undefined || madeAt < now - GROWTH_RESERVATION_MS)
      return undefined;
    const rest = {
      cpus: Math.max(0, expected.cpus - seen.cpus),
      memory: Math.max(0, expected.memory - seen.memory),
      disk: Math.max(0, expected.disk - seen.disk),
      snapshots: Math.max(0, (expected.snapshots ?? 0) - (seen.snapshots ?? 0)),
      vms: 0,
    };
    return usageNames.some((name) => rest[name] > 0) ? rest : undefined;
  }
}

function amountsOf({
  cpus,
  memory,
  disk,
  snapshots = 0,
}: ResourceUsage): Required<Omit<ResourceUsage, "vms">> {
  return { cpus, memory, disk, snapshots };
}

/** Usage in the mirror plus what it does not contain yet. */
function sumOf(
  { cpus, memory, disk, snapshots, vms }: SetUsage,
  rests: readonly ResourceUsage[],
): Readonly<Record<(typeof usageNames)[number] | "vms", number>> {
  const sum = { cpus, memory, disk, snapshots, vms };
  for (const rest of rests) {
    for (const name of usageNames) sum[name] += rest[name] ?? 0;
    sum.vms += rest.vms ?? 1;
  }
  return sum;
}

function addUsage(
  before: ResourceUsage = { cpus: 0, memory: 0, disk: 0 },
  more: ResourceUsage,
): ResourceUsage {
  return {
    cpus: before.cpus + more.cpus,
    memory: before.memory + more.memory,
    disk: before.disk + more.disk,
    snapshots: (before.snapshots ?? 0) + (more.snapshots ?? 0),
  };
}

function limitOf(limits: ResourceSet["limits"], name: string): number {
  return Object.hasOwn(limits, name) ? limits[name]! : Infinity;
}
