import { checkName, checkText, toJson } from "../schema/limits.js";
import type { PlacementRuleRow } from "../schema/tables.js";
import type { RepositoryContext } from "./repository-context.js";

/** A placement rule for VMs of a pool: affinity, anti-affinity or host affinity. */
export interface PlacementRule {
  readonly id: string;
  /** Id of the pool. */
  readonly pool: string;
  readonly name: string;
  /**
   * affinity: all on one host; anti-affinity: no two on one host; host-affinity:
   * only on these hosts, or on none of them.
   */
  readonly kind: "affinity" | "anti-affinity" | "host-affinity";
  /** True: a hard constraint. False: a preference. */
  readonly required: boolean;
  /** Ids of VMs. */
  readonly vms?: readonly string[];
  /** Instead of `vms`: all VMs with this tag, now or later. */
  readonly tag?: string;
  /** Ids of hosts; only of a host affinity. */
  readonly hosts?: readonly string[];
  /** Only of a host affinity. Below 0 the hosts are avoided. */
  readonly score?: number;
  /** Only of a preferred affinity or anti-affinity. */
  readonly weight?: number;
}

export type NewPlacementRule = Omit<PlacementRule, "id">;

/** Placement rules. Changes throw XoError STORE_UNAVAILABLE while the database is unreachable. */
export class PlacementRules {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  get size(): number {
    return this.#context.tables.placementRules.size;
  }

  get(id: string): PlacementRule | undefined {
    const row = this.#context.tables.placementRules.get(id);
    return row && toRule(row);
  }

  /** @param pool only rules of this pool */
  *list(pool?: string): IterableIterator<PlacementRule> {
    const { placementRules } = this.#context.tables;
    const rows =
      pool === undefined
        ? placementRules.values()
        : placementRules.withKey("pool", pool);
    for (const row of rows) yield toRule(row);
  }

  /** @throws XoError LIMIT_REACHED, VALUE_TOO_LARGE, INVALID_PARAMETERS */
  async create(rule: NewPlacementRule): Promise<PlacementRule> {
    const { tables, committer, clock, createId } = this.#context;
    const now = clock.now();
    const row: PlacementRuleRow = {
      id: createId(),
      ...columnsOf(rule),
      created_at: now,
      updated_at: now,
    };
    await committer.run((unit) => tables.placementRules.insert(unit, row));
    return toRule(row);
  }

  /** Replaces all members. @throws XoError NO_SUCH_OBJECT, VALUE_TOO_LARGE, INVALID_PARAMETERS */
  async replace(id: string, rule: NewPlacementRule): Promise<PlacementRule> {
    const { tables, committer, clock } = this.#context;
    tables.placementRules.require(id);
    const columns = { ...columnsOf(rule), updated_at: clock.now() };
    return committer.run(async (unit) =>
      toRule(await tables.placementRules.update(unit, id, columns)),
    );
  }

  /** @throws XoError NO_SUCH_OBJECT */
  async delete(id: string): Promise<void> {
    const { tables, committer } = this.#context;
    tables.placementRules.require(id);
    await committer.run((unit) => tables.placementRules.remove(unit, id));
  }
}

function columnsOf({ pool, name, ...body }: NewPlacementRule) {
  return {
    pool_id: checkText("the pool's id", pool),
    name: checkName("the rule's name", name),
    body_json: toJson("the rule", body),
  };
}

function toRule({
  id,
  pool_id,
  name,
  body_json,
}: PlacementRuleRow): PlacementRule {
  const body = JSON.parse(body_json) as Omit<NewPlacementRule, "pool" | "name">;
  return { ...body, id, pool: pool_id, name };
}
