import type { Migration } from "kysely";
import { createTable, type Schema } from "./create-table.js";

/** Pictures of consoles, taken by restore tests. */
export const restorePictures: Migration = {
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
