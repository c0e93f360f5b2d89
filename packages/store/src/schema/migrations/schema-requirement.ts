import type { Kysely } from "kysely";
import type { Tables } from "../tables.js";
import { migrations } from "./all.js";

/** Row of `meta`: the name of the last migration that is not additive. Programs that know it work with the database. */
const REQUIREMENT_ID = "schema_requires";

/** The last of the migrations up to this one that is not additive. */
export function requirementOf(name: string): string {
  const names = Object.keys(migrations);
  const until = names.slice(0, names.indexOf(name) + 1);
  return until.findLast((one) => !migrations[one]!.isAdditive)!;
}

/** Writes the requirement. To be called in the transaction of the migration. */
export async function writeRequirement(
  db: Kysely<Tables>,
  value: string,
): Promise<void> {
  await db
    .insertInto("meta")
    .values({ id: REQUIREMENT_ID, value })
    .onConflict((conflict) => conflict.column("id").doUpdateSet({ value }))
    .execute();
}

/** Reads the requirement. No row: the last migration was made by a version that does not write it. */
export function selectRequirement(db: Kysely<Tables>) {
  return db.selectFrom("meta").select("value").where("id", "=", REQUIREMENT_ID);
}

/** Whether this version works with a database that requires this migration. */
export function isKnownRequirement(required: string): boolean {
  return Object.hasOwn(migrations, required);
}
