import type { Migration } from "kysely";

/** One change of the schema. */
export interface SchemaMigration extends Migration {
  /**
   * Whether programs that do not know the migration work with the tables as before:
   * it adds tables, indexes, and columns that may be left out, and changes no meaning of
   * what exists. Servers of the version before then run beside those of the new one.
   * Else no other server may run while it is applied.
   */
  readonly isAdditive: boolean;
}
