import { checkName, checkText, toJson } from "../schema/limits.js";
import type { PlacementRuleRow } from "../schema/tables.js";
import type { RepositoryContext } from "./repository-context.js";

/** What VMs of a pool have to do with each other, or with its hosts. */
export interface PlacementRule {
  readonly id: string;
  /** The pool's id. */
  readonly pool: string;
  readonly name: string;
  /** together: all on one host; apart: no two on one host; location: on these hosts, or not there. */
  readonly kind: "together" | "apart" | "location";
  /** Nothing breaks it; or else it is a wish. */
  readonly strict: boolean;
  /** Ids. */
  readonly vms?: readonly string[];
  /** Instead of `vms`: those that have it, now or later. */
  readonly tag?: string;
  /** Ids; of a location. */
  readonly hosts?: readonly string[];
  /** Of a location: below 0 the hosts are avoided. */
  readonly score?: number;
  /** Of a wish for VMs to be together or apart. */
  readonly weight?: number;
}

export type NewPlacementRule = Omit<PlacementRule, "id">;

/** Rules of placement. Changes throw XoError STORE_UNAVAILABLE while the database is gone. */
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

  /** @param pool of this pool only */
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

  /** Everything is as given from then on. @throws XoError NO_SUCH_OBJECT, VALUE_TOO_LARGE, INVALID_PARAMETERS */
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
  const body = JSON.parse(body_json) as Omit<
    PlacementRule,
    "id" | "pool" | "name"
  >;
  return { ...body, id, pool: pool_id, name };
}
