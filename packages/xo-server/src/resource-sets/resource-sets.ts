import { XoError } from "@xo-server/model";
import type { ResourceSet, Store } from "@xo-server/store";
import type { CallContext, HandlerContext } from "../operations/operation.js";
import type { AuthenticatedUser } from "../auth/users/authenticated-user.js";
import type { AddressAllocator } from "../ip-pools/address-allocator.js";
import type { Reservation } from "../reservations/reservations.js";
import {
  noGrowth,
  type AssignedAddress,
  type GrowthReservation,
  type OpenResourceSet,
  type ResourceSetAccess,
  type ResourceUsage,
  type UsageReservation,
} from "../vms/limits/resource-sets.js";
import { noUsage, readUsage, type SetUsage } from "./set-usage.js";
import { poolsOf } from "./pools-of.js";
import {
  UsageReservations,
  usageNames,
  type UsageReservationsOptions,
  type ReservedUsage,
} from "./usage-reservations.js";

interface ResourceSetsOptions extends UsageReservationsOptions {
  readonly store: Pick<Store, "resourceSets" | "acls">;
  /** Absent: the server has no IP pools. */
  readonly addresses?: AddressAllocator;
}

/** A resource set as clients see it; amounts are integers. */
interface PublicResourceSet extends Omit<ResourceSet, "limits" | "pools"> {
  readonly limits: Readonly<
    Record<
      string,
      {
        readonly total: number;
        readonly usage: number;
        /** Remaining amount. */
        readonly available: number;
      }
    >
  >;
}

/**
 * Resource sets: quotas for creating VMs, their usage, and the owners of the
 * VMs.
 */
export class ResourceSets implements ResourceSetAccess {
  readonly #options: ResourceSetsOptions;
  readonly #shares: UsageReservations;

  constructor(options: ResourceSetsOptions) {
    this.#options = options;
    this.#shares = new UsageReservations(options);
  }

  /** The resource sets of a user; all sets for administrators. */
  async list(user: AuthenticatedUser): Promise<PublicResourceSet[]> {
    const { resourceSets } = this.#options.store;
    const sets = [...resourceSets.list()].filter((set) => isOneOf(set, user));
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
    const taken: Reservation<ReservedUsage>[] = [];
    return {
      has: (objectId) => usable.has(objectId),
      reserve: async (usage, vmId) => {
        const mine = await this.#shares.reserve(id, usage, { moved: vmId });
        if (vmId === undefined) taken.push(mine);
        return () => this.#shares.release(mine);
      },
      own: async (vmId) => {
        await this.#shares.settle(taken, vmId);
        await this.#give(vmId, this.#find(id, context), context);
      },
    };
  }

  async grow(
    setId: string,
    vmId: string,
    growth: ResourceUsage,
  ): Promise<GrowthReservation> {
    if (usageNames.every((name) => (growth[name] ?? 0) <= 0)) return noGrowth;
    const mine = await this.#shares.reserve(setId, growth, { grown: vmId });
    return {
      release: () => this.#shares.release(mine),
      settle: () => this.#shares.settle([mine], vmId),
    };
  }

  async reserveFor(
    setId: string,
    usage: ResourceUsage,
    context: HandlerContext,
  ): Promise<UsageReservation> {
    const mine = await this.#shares.reserve(setId, usage);
    return {
      release: () => this.#shares.release(mine),
      own: async (vmId) => {
        await this.#shares.settle([mine], vmId);
        const set = this.#options.store.resourceSets.get(setId);
        if (set !== undefined) await this.#give(vmId, set, context);
      },
    };
  }

  async assignAddress(
    setId: string,
    network: string,
  ): Promise<AssignedAddress | undefined> {
    return this.#options.addresses?.allocate(setId, network);
  }

  async share(setId: string, vmId: string): Promise<void> {
    const { acls, resourceSets } = this.#options.store;
    for (const subject of resourceSets.get(setId)?.subjects ?? [])
      await acls.add({ subject, object: vmId, action: "admin" });
  }

  /** Ids of the pools of known objects. */
  poolsOf(objects: readonly string[]): string[] {
    return poolsOf(this.#options.catalog, objects);
  }

  async #toPublic(
    set: ResourceSet,
    usage: SetUsage | undefined,
  ): Promise<PublicResourceSet> {
    return toPublic(set, usage, await this.#options.addresses?.usage(set));
  }

  #find(id: string, { user }: CallContext): ResourceSet {
    const set = this.#options.store.resourceSets.get(id);
    if (set !== undefined && user !== undefined && isOneOf(set, user))
      return set;
    throw new XoError("NO_SUCH_OBJECT", { type: "resourceSet", id });
  }

  /** Grants rights to the creator, or to all subjects of a shared set. */
  async #give(
    vmId: string,
    set: ResourceSet,
    { user }: CallContext,
  ): Promise<void> {
    const owners = set.shareByDefault ? set.subjects : [user!.id];
    for (const subject of owners)
      await this.#options.store.acls.add({
        subject,
        object: vmId,
        action: "admin",
      });
  }
}

function isOneOf({ subjects }: ResourceSet, user: AuthenticatedUser): boolean {
  return (
    user.isAdmin ||
    [user.id, ...user.groups].some((id) => subjects.includes(id))
  );
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
