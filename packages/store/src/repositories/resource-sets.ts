import { checkName, toJson } from "../schema/limits.js";
import type { ResourceSetRow } from "../schema/tables.js";
import type { RepositoryContext } from "./repository-context.js";

/** What some people may make VMs of, and how much of it. */
export interface ResourceSet {
  readonly id: string;
  readonly name: string;
  /** Ids of users and groups. */
  readonly subjects: readonly string[];
  /** Ids of templates, networks, SRs. */
  readonly objects: readonly string[];
  /** Ids of the pools that these were in when they were named. */
  readonly pools: readonly string[];
  /** How much at most, by `cpus`, `memory` and `disk` (bytes), `vms` ...; what is not there is not limited. */
  readonly limits: Readonly<Record<string, number>>;
  /** Given to each VM. */
  readonly tags: readonly string[];
  readonly ipPools: readonly string[];
  /** VMs belong to all subjects, not to who made them only. */
  readonly shareByDefault: boolean;
}

export type NewResourceSet = Pick<ResourceSet, "name"> &
  Partial<Omit<ResourceSet, "id" | "name">>;

/** Sets of resources. Changes throw XoError STORE_UNAVAILABLE while the database is gone. */
export class ResourceSets {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  get(id: string): ResourceSet | undefined {
    const row = this.#context.tables.resourceSets.get(id);
    return row && toResourceSet(row);
  }

  *list(): IterableIterator<ResourceSet> {
    for (const row of this.#context.tables.resourceSets.values())
      yield toResourceSet(row);
  }

  /** @throws XoError LIMIT_REACHED, VALUE_TOO_LARGE, INVALID_PARAMETERS */
  async create(set: NewResourceSet): Promise<ResourceSet> {
    const { tables, committer, clock, createId } = this.#context;
    const now = clock.now();
    const row: ResourceSetRow = {
      id: createId(),
      ...columnsOf(set),
      created_at: now,
      updated_at: now,
    };
    await committer.run((unit) => tables.resourceSets.insert(unit, row));
    return toResourceSet(row);
  }

  /**
   * @param patch made of what the set is when its turn comes, so that two changes at once are both made
   * @throws XoError NO_SUCH_OBJECT, VALUE_TOO_LARGE, INVALID_PARAMETERS
   */
  async update(
    id: string,
    patch: (set: ResourceSet) => Partial<NewResourceSet>,
  ): Promise<ResourceSet> {
    const { tables, committer, clock } = this.#context;
    tables.resourceSets.require(id);
    return committer.run(async (unit) => {
      // Writing locks the row, reading would not.
      const row = await tables.resourceSets.update(unit, id, {
        updated_at: clock.now(),
      });
      const set = toResourceSet(row);
      const columns = columnsOf({ ...set, ...patch(set) });
      return toResourceSet(await tables.resourceSets.update(unit, id, columns));
    });
  }

  /** @throws XoError NO_SUCH_OBJECT */
  async delete(id: string): Promise<void> {
    const { tables, committer } = this.#context;
    tables.resourceSets.require(id);
    await committer.run((unit) => tables.resourceSets.remove(unit, id));
  }
}

type Body = Omit<ResourceSet, "id" | "name">;

function columnsOf(set: NewResourceSet): { name: string; body_json: string } {
  const body: Body = {
    subjects: [...new Set(set.subjects)],
    objects: [...new Set(set.objects)],
    pools: [...new Set(set.pools)],
    limits: set.limits ?? {},
    tags: [...new Set(set.tags)],
    ipPools: [...new Set(set.ipPools)],
    shareByDefault: set.shareByDefault ?? false,
  };
  return {
    name: checkName("the name of a resource set", set.name),
    body_json: toJson("the resource set", body),
  };
}

function toResourceSet({ id, name, body_json }: ResourceSetRow): ResourceSet {
  return { id, name, ...(JSON.parse(body_json) as Body) };
}
