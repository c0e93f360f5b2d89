import { createTable, type Schema } from "./create-table.js";
import type { SchemaMigration } from "./schema-migration.js";

/** Pictures of consoles, taken by restore tests. */
export const restorePictures: SchemaMigration = {
  isAdditive: true,
  async up(db: Schema) {
    await createTable(db, "restore_pictures", {
      columns: {
        id: "text",
        repository_id: "text",
        taken_at: "number",
        picture_sealed: "text",
      },
      indexes: [["repository_id", "taken_at"]],
    });
  },
};
