import type { WallClock } from "@xo-server/kit";
import type { Catalog } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import type { ResourceSet, Store } from "@xo-server/store";
import type { CallContext, HandlerContext } from "../operations/operation.js";
import type { AuthenticatedUser } from "../auth/authenticated-user.js";
import type { AddressAllocator } from "../ip-pools/address-allocator.js";
import {
  noGrowth,
  type AssignedAddress,
  type GrownShare,
  type OpenResourceSet,
  type ResourceSetAccess,
  type ResourceUsage,
  type TakenShare,
} from "../vms/resource-sets.js";
import {
  noUsage,
  readUsage,
  type SetUsage,
  type UsageSources,
} from "./set-usage.js";

export interface ResourceSetsOptions extends UsageSources {
  readonly catalog: Pick<Catalog, "follow" | "get">;
  readonly store: Pick<Store, "resourceSets" | "acls">;
  readonly clock: Pick<WallClock, "now">;
  /** Absent: there are no IP pools. */
  readonly addresses?: AddressAllocator;
  /** Resolves when the mirror shows the pool of a VM as it is now. Default: immediately. */
  readonly caughtUp?: (vmId: string) => Promise<void>;
}

/** A resource set as clients see it; amounts are integers. */
export interface PublicResourceSet extends Omit<
  ResourceSet,
  "limits" | "pools"
> {
  readonly limits: Readonly<
    Record<
      string,
      {
        readonly total: number;
        readonly usage: number;
        /** Amount left. */
        readonly available: number;
      }
    >
  >;
}

/**
 * A reservation for a VM is held until the mirror has the VM, at most this
 * long, in ms.
 */
const TAKEN_MS = 3600 * 1000;

/** The same for the growth of a VM. */
const GROWN_MS = 60 * 1000;

interface Taken extends ResourceUsage {
  readonly setId: string;
  readonly at: number;
  /** Set when the VM was created. */
  vmId?: string;
  /** The use of an existing VM when it has grown. */
  readonly expected?: ResourceUsage;
}

const usageNames = ["cpus", "memory", "disk", "snapshots"] as const;

/**
 * Resource sets: quotas for creating VMs, their usage, and the owners of the
 * VMs.
 */
export class ResourceSets implements ResourceSetAccess {
  readonly #options: ResourceSetsOptions;
  readonly #taken = new Set<Taken>();

  constructor(options: ResourceSetsOptions) {
    this.#options = options;
  }

  /** The sets of a user; for administrators all. */
  async list(person: AuthenticatedUser): Promise<PublicResourceSet[]> {
    const { resourceSets } = this.#options.store;
    const sets = [...resourceSets.list()].filter((set) => isOneOf(set, person));
    if (sets.length === 0) return [];
    const usage = await readUsage(this.#options);
    return Promise.all(
      sets.map((set) => this.#toPublic(set, usage.get(set.id))),
    );
  }

  /**
   * @throws XoError NO_SUCH_OBJECT, also when the caller is not a subject of
   *   the set
   */
  async get(id: string, context: CallContext): Promise<PublicResourceSet> {
    const set = this.#find(id, context);
    return this.#toPublic(set, (await readUsage(this.#options)).get(id));
  }

  /**
   * @throws XoError NO_SUCH_OBJECT, also when the caller is not a subject of
   *   the set
   */
  open(id: string, context: HandlerContext): OpenResourceSet {
    const set = this.#find(id, context);
    const usable = new Set(set.objects);
    const taken: Taken[] = [];
    return {
      has: (objectId) => usable.has(objectId),
      take: async (usage, vmId) => {
        const mine = await this.#take(id, usage);
        if (vmId === undefined) taken.push(mine);
        else mine.vmId = vmId;
        return async () => void this.#taken.delete(mine);
      },
      own: async (vmId) => {
        for (const one of taken) one.vmId = vmId;
        await this.#released(taken, vmId);
        await this.#give(vmId, this.#find(id, context), context);
      },
    };
  }

  async grow(
    setId: string,
    vmId: string,
    growth: ResourceUsage,
  ): Promise<GrownShare> {
    if (usageNames.every((name) => (growth[name] ?? 0) <= 0)) return noGrowth;
    const mine = await this.#take(setId, growth, vmId);
    return {
      giveBack: async () => void this.#taken.delete(mine),
      done: async () => {
        await this.#options.caughtUp?.(vmId);
        this.#taken.delete(mine);
      },
    };
  }

  async takeFor(
    setId: string,
    usage: ResourceUsage,
    context: HandlerContext,
  ): Promise<TakenShare> {
    const mine = await this.#take(setId, usage);
    return {
      giveBack: async () => void this.#taken.delete(mine),
      own: async (vmId) => {
        mine.vmId = vmId;
        await this.#released([mine], vmId);
        const set = this.#options.store.resourceSets.get(setId);
        if (set !== undefined) await this.#give(vmId, set, context);
      },
    };
  }

  async assignAddress(
    setId: string,
    network: string,
  ): Promise<AssignedAddress | undefined> {
    const { addresses } = this.#options;
    const found = await addresses?.allocate(setId, network);
    return (
      found && {
        ...found,
        giveBack: () => addresses?.giveBack(network, found.address),
      }
    );
  }

  async share(setId: string, vmId: string): Promise<void> {
    const { acls, resourceSets } = this.#options.store;
    for (const subject of resourceSets.get(setId)?.subjects ?? [])
      await acls.add({ subject, object: vmId, action: "admin" });
  }

  /** Ids of the pools of known objects. */
  poolsOf(objects: readonly string[]): string[] {
    const pools = objects.flatMap((id) => {
      const json = this.#options.catalog.get(id)?.json;
      if (json === undefined) return [];
      const { $pool } = JSON.parse(json.toString()) as { $pool?: unknown };
      return typeof $pool === "string" ? [$pool] : [];
    });
    return [...new Set(pools)];
  }

  async #toPublic(
    set: ResourceSet,
    usage: SetUsage | undefined,
  ): Promise<PublicResourceSet> {
    return toPublic(set, usage, await this.#options.addresses?.usage(set));
  }

  #find(id: string, { user: person }: CallContext): ResourceSet {
    const set = this.#options.store.resourceSets.get(id);
    if (set !== undefined && person !== undefined && isOneOf(set, person))
      return set;
    throw new XoError("NO_SUCH_OBJECT", { type: "resourceSet", id });
  }

  /** @param grownVm id of the VM of the set that grows; absent: a further VM */
  async #take(
    setId: string,
    wanted: ResourceUsage,
    grownVm?: string,
  ): Promise<Taken> {
    const { store, clock } = this.#options;
    const used = (await readUsage(this.#options)).get(setId) ?? noUsage;
    // No await from here on, so that concurrent calls see the reservation.
    const limits = store.resourceSets.get(setId)?.limits ?? {};
    const sum = this.#sumOf(setId, used);
    for (const [name, amount] of Object.entries({
      ...amountsOf(wanted),
      vms: grownVm === undefined ? (wanted.vms ?? 1) : 0,
    })) {
      const left = limitOf(limits, name) - sum[name as keyof typeof sum];
      if (amount > 0 && amount > left)
        throw new XoError("RESOURCES_EXHAUSTED", {
          resourceSet: setId,
          resourceType: name,
          requested: amount,
          available: Math.max(0, left),
        });
    }
    const before = grownVm === undefined ? undefined : used.byVm.get(grownVm);
    const taken: Taken = {
      ...wanted,
      setId,
      at: clock.now(),
      ...(grownVm === undefined
        ? {}
        : { vmId: grownVm, expected: addUsage(before, wanted) }),
    };
    this.#taken.add(taken);
    return taken;
  }

  /** Usage in the mirror plus reservations that it does not contain yet. */
  #sumOf(
    setId: string,
    used: SetUsage,
  ): Record<(typeof usageNames)[number] | "vms", number> {
    const { cpus, memory, disk, snapshots, vms } = used;
    const sum = { cpus, memory, disk, snapshots, vms };
    for (const one of this.#taken) {
      if (one.setId !== setId) continue;
      const rest = this.#restOf(one, used);
      if (rest === undefined) {
        this.#taken.delete(one);
        continue;
      }
      for (const name of usageNames) sum[name] += rest[name] ?? 0;
      if (one.expected === undefined) sum.vms += one.vms ?? 1;
    }
    return sum;
  }

  /** Releases a reservation. If the mirror has the created VM, only that is counted. */
  async #released(taken: readonly Taken[], vmId: string): Promise<void> {
    const { caughtUp } = this.#options;
    if (caughtUp === undefined) return;
    await caughtUp(vmId);
    for (const one of taken) this.#taken.delete(one);
  }

  /** Part of a reservation that the mirror does not contain yet; undefined: none. */
  #restOf(one: Taken, { byVm }: SetUsage): ResourceUsage | undefined {
    const { at, vmId = "", expected } = one;
    const now = this.#options.clock.now();
    const seen = byVm.get(vmId);
    if (expected === undefined)
      return seen !== undefined || at < now - TAKEN_MS ? undefined : one;
    if (seen === undefined || at < now - GROWN_MS) return undefined;
    const rest = {
      cpus: Math.max(0, expected.cpus - seen.cpus),
      memory: Math.max(0, expected.memory - seen.memory),
      disk: Math.max(0, expected.disk - seen.disk),
      snapshots: Math.max(0, (expected.snapshots ?? 0) - (seen.snapshots ?? 0)),
    };
    return usageNames.some((name) => rest[name] > 0) ? rest : undefined;
  }

  /** Grants rights to the creator, or to all subjects of a shared set. */
  async #give(
    vmId: string,
    set: ResourceSet,
    { user: person }: CallContext,
  ): Promise<void> {
    const owners = set.shareByDefault ? set.subjects : [person!.id];
    for (const subject of owners)
      await this.#options.store.acls.add({
        subject,
        object: vmId,
        action: "admin",
      });
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

function isOneOf(
  { subjects }: ResourceSet,
  person: AuthenticatedUser,
): boolean {
  return (
    person.isAdmin ||
    [person.id, ...person.groups].some((id) => subjects.includes(id))
  );
}

function limitOf(limits: ResourceSet["limits"], name: string): number {
  return Object.hasOwn(limits, name) ? limits[name]! : Infinity;
}

function toPublic(
  set: ResourceSet,
  usage: SetUsage = noUsage,
  addresses: ReadonlyMap<string, number> = new Map(),
): PublicResourceSet {
  const { cpus, memory, disk, snapshots, vms } = usage;
  const sums = { cpus, memory, disk, snapshots, vms };
  const used = new Map([...Object.entries(sums), ...addresses]);
  const { id, name, subjects, objects, tags, ipPools, shareByDefault } = set;
  return {
    id,
    name,
    subjects,
    objects,
    tags,
    ipPools,
    shareByDefault,
    limits: Object.fromEntries(
      Object.entries(set.limits).map(([limit, total]) => {
        const taken = used.get(limit) ?? 0;
        const available = Math.max(0, total - taken);
        return [limit, { total, usage: taken, available }];
      }),
    ),
  };
}
