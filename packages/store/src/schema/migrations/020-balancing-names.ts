import { type RenamedTable, withCurrentNames } from "../old-names.js";
import type { Schema } from "./create-table.js";
import type { SchemaMigration } from "./schema-migration.js";

/** Columns with JSON. */
const columns = {
  placement_rules: "body_json",
  balancer_policies: "body_json",
  balancer_runs: "body_json",
  balancer_watches: "state_json",
} as const satisfies Partial<Record<RenamedTable, string>>;

/** Rows that are read at a time: a run may have hundreds of kilobytes. */
const PAGE = 100;

/**
 * Replaces the names of release 0.1 in stored placement rules, and in policies,
 * runs and states of the load balancer.
 *
 * Additive: every version since 0.2 reads and writes the current names, and a
 * server that can run beside this one is newer (014 is not additive). If such
 * a server imports a configuration exported by 0.1 afterwards, it stores the
 * names of 0.1; this version then uses the defaults for the renamed members of a
 * policy, and does not know the kind of such a rule, until it is saved again.
 */
export const balancingNames: SchemaMigration = {
  isAdditive: true,
  async up(db: Schema) {
    for (const [table, column] of Object.entries(columns))
      await renameIn(db, table as keyof typeof columns, column);
  },
};

async function renameIn(
  db: Schema,
  table: keyof typeof columns,
  column: string,
): Promise<void> {
  let after = "";
  for (;;) {
    const rows = (await db
      .selectFrom(table)
      .select(["id", `${column} as json`])
      .where("id", ">", after)
      .orderBy("id")
      .limit(PAGE)
      .execute()) as readonly StoredJson[];
    for (const { id, json } of rows) {
      const current = withCurrentNames(table, json);
      if (current === json) continue;
      await db
        .updateTable(table)
        .set({ [column]: current })
        .where("id", "=", id)
        .execute();
    }
    if (rows.length < PAGE) return;
    after = rows.at(-1)!.id;
  }
}

interface StoredJson {
  readonly id: string;
  readonly json: string;
}
