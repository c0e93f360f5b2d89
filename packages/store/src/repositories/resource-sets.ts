import { checkName, toJson } from "../schema/limits.js";
import type { ResourceSetRow } from "../schema/tables.js";
import type { RepositoryContext } from "./repository-context.js";

/** Resources from which its subjects may create VMs, with limits. */
export interface ResourceSet {
  readonly id: string;
  readonly name: string;
  /** Ids of users and groups. */
  readonly subjects: readonly string[];
  /** Ids of templates, networks, SRs. */
  readonly objects: readonly string[];
  /** Ids of the pools of these objects when they were added. */
  readonly pools: readonly string[];
  /** Limits by `cpus`, `memory` and `disk` (bytes), `vms` ...; absent: not limited. */
  readonly limits: Readonly<Record<string, number>>;
  /** Tags added to each VM. */
  readonly tags: readonly string[];
  readonly ipPools: readonly string[];
  /** VMs are accessible to all subjects, not only to their creator. */
  readonly shareByDefault: boolean;
}

export type NewResourceSet = Pick<ResourceSet, "name"> &
  Partial<Omit<ResourceSet, "id" | "name">>;

/** Resource sets. Changes throw XoError STORE_UNAVAILABLE while the database is unreachable. */
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
   * @param patch computes the patch from the current set within the transaction, so that concurrent changes are both applied
   * @throws XoError NO_SUCH_OBJECT, VALUE_TOO_LARGE, INVALID_PARAMETERS
   */
  async update(
    id: string,
    patch: (set: ResourceSet) => Partial<NewResourceSet>,
  ): Promise<ResourceSet> {
    const { tables, committer, clock } = this.#context;
    tables.resourceSets.require(id);
    return committer.run(async (unit) => {
      // An UPDATE locks the row, a SELECT would not.
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
