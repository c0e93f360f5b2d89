import { withCurrentNames } from "../old-names.js";
import type { Schema } from "./create-table.js";
import type { SchemaMigration } from "./schema-migration.js";

/**
 * Replaces the names of release 0.1 in stored alarm rules.
 *
 * Additive: every version since 0.2 reads and writes the current names, and a
 * server that can run beside this one is newer (014 is not additive). If such
 * a server imports a configuration exported by 0.1 afterwards, it stores the
 * names of 0.1; the rules then have no targets on this version.
 */
export const alarmRuleNames: SchemaMigration = {
  isAdditive: true,
  async up(db: Schema) {
    // At most a few hundred; the API limits their number.
    const rows = await db
      .selectFrom("alarm_rules")
      .select(["id", "body_json"])
      .execute();
    for (const { id, body_json: stored } of rows as readonly StoredRule[]) {
      const current = withCurrentNames("alarm_rules", stored);
      if (current === stored) continue;
      await db
        .updateTable("alarm_rules")
        .set({ body_json: current })
        .where("id", "=", id)
        .execute();
    }
  },
};

interface StoredRule {
  readonly id: string;
  readonly body_json: string;
}
