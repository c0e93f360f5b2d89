import type { LoadHook } from "node:module";

/** The migrations that a next version may have, by the value of XO_TEST_MIGRATION. */
const SOURCES: Readonly<Record<string, string>> = {
  additive: `migrations["900-nicknames"] = {
    isAdditive: true,
    async up(db) {
      await db.schema.alterTable("users").addColumn("nickname", "text").execute();
      await db.schema.createTable("nicknames").addColumn("id", "text").execute();
    },
  };`,
  breaking: `migrations["901-renamed-users"] = {
    isAdditive: false,
    async up(db) {
      await db.schema.alterTable("users").addColumn("changed", "bigint").execute();
      await db.schema.alterTable("users").renameColumn("updated_at", "modified_at").execute();
      await db.schema.alterTable("users").renameColumn("modified_at", "updated_at").execute();
    },
  };`,
};

/** Appends the migrations to the list of those of the store. */
export const load: LoadHook = async (url, context, next) => {
  const loaded = await next(url, context);
  if (!url.endsWith("/store/dist/src/schema/migrations/all.js")) return loaded;
  const names = (process.env["XO_TEST_MIGRATION"] ?? "").split(" ");
  const added = names.map((name) => SOURCES[name] ?? "").join("\n");
  const source = Buffer.from(loaded.source as Uint8Array).toString();
  return { ...loaded, source: `${source}\n${added}` };
};
