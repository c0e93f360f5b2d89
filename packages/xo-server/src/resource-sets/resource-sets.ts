import type { WallClock } from "@xo-server/kit";
import type { Catalog } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import type { ResourceSet, Store } from "@xo-server/store";
import type { CallContext, HandlerContext } from "../operations/operation.js";
import type { AuthenticatedUser } from "../auth/authenticated-user.js";
import type {
  OpenResourceSet,
  ResourceSets as UsableSets,
  ResourceUsage,
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

interface Taken extends ResourceUsage {
  readonly setId: string;
  readonly at: number;
  /** Set when the VM was created. */
  vmId?: string;
}

/**
 * Resource sets: quotas for creating VMs, their usage, and the owners of the
 * VMs.
 */
export class ResourceSets implements UsableSets {
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
    return sets.map((set) => toPublic(set, usage.get(set.id)));
  }

  /**
   * @throws XoError NO_SUCH_OBJECT, also when the caller is not a subject of
   *   the set
   */
  async get(id: string, context: CallContext): Promise<PublicResourceSet> {
    const set = this.#find(id, context);
    return toPublic(set, (await readUsage(this.#options)).get(id));
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
      take: async (usage) => {
        const mine = await this.#take(id, usage);
        taken.push(mine);
        return async () => void this.#taken.delete(mine);
      },
      own: async (vmId) => {
        for (const one of taken) one.vmId = vmId;
        await this.#give(vmId, this.#find(id, context), context);
      },
    };
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

  #find(id: string, { user: person }: CallContext): ResourceSet {
    const set = this.#options.store.resourceSets.get(id);
    if (set !== undefined && person !== undefined && isOneOf(set, person))
      return set;
    throw new XoError("NO_SUCH_OBJECT", { type: "resourceSet", id });
  }

  async #take(setId: string, wanted: ResourceUsage): Promise<Taken> {
    const { store, clock } = this.#options;
    const used = (await readUsage(this.#options)).get(setId) ?? noUsage;
    // No await from here on, so that concurrent calls see the reservation.
    const limits = store.resourceSets.get(setId)?.limits ?? {};
    const sum = this.#sumOf(setId, used);
    for (const [name, amount] of Object.entries({ ...wanted, vms: 1 })) {
      const left = limitOf(limits, name) - sum[name as keyof typeof sum];
      if (amount > left)
        throw new XoError("RESOURCES_EXHAUSTED", {
          resourceSet: setId,
          resourceType: name,
          requested: amount,
          available: Math.max(0, left),
        });
    }
    const taken: Taken = { ...wanted, setId, at: clock.now() };
    this.#taken.add(taken);
    return taken;
  }

  /** Usage in the mirror plus reservations that it does not contain yet. */
  #sumOf(
    setId: string,
    used: SetUsage,
  ): { cpus: number; memory: number; disk: number; vms: number } {
    const { cpus, memory, disk, vms } = used;
    const sum = { cpus, memory, disk, vms };
    for (const one of this.#taken) {
      if (one.setId !== setId) continue;
      const isThere = one.vmId !== undefined && used.ids.has(one.vmId);
      if (isThere || one.at < this.#options.clock.now() - TAKEN_MS) {
        this.#taken.delete(one);
        continue;
      }
      sum.cpus += one.cpus;
      sum.memory += one.memory;
      sum.disk += one.disk;
      sum.vms++;
    }
    return sum;
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
): PublicResourceSet {
  const { cpus, memory, disk, vms } = usage;
  const used = new Map(Object.entries({ cpus, memory, disk, vms }));
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
