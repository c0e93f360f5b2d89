import { join } from "node:path";
import {
  writeEmptyDatabase,
  type StoreHarness,
} from "@xo-server/store/conformance";
import { openSqlite } from "../src/engines/sqlite-binding.js";

/** A separate file for each database. */
export const sqliteHarness: StoreHarness = {
  async createDatabase(folder) {
    const location = join(folder, "store.db");
    return {
      location,
      async query(sql) {
        const database = await openSqlite(location);
        database.exec("pragma busy_timeout = 5000");
        try {
          const statement = database.prepare(sql);
          if (sql.startsWith("select"))
            return statement.all() as Record<string, unknown>[];
          statement.run();
          return [];
        } finally {
          database.close();
        }
      },
      remove: async () => undefined, // The folder is deleted.
    };
  },
};

/** The same, with the tables of this version. */
export const migratedSqliteHarness: StoreHarness = {
  async createDatabase(folder) {
    const database = await sqliteHarness.createDatabase(folder);
    await writeEmptyDatabase(database.location);
    return database;
  },
};
