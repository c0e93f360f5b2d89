import type { CachedTables } from "../cache/cached-tables.js";
import type { Committer } from "../commit/committer.js";
import { sealContext } from "./sealed-columns.js";
import type { Vault } from "./vault.js";

/**
 * Encrypts cloud-init templates that release 0.2 stored in clear text. Templates
 * are encrypted by the process that starts first.
 */
export async function sealPlainTemplates({
  tables,
  vault,
  committer,
}: {
  readonly tables: CachedTables;
  readonly vault: Vault;
  readonly committer: Committer;
}): Promise<void> {
  const isPlain = (template: string) => !vault.isSealed(template);
  const rows = [...tables.cloudConfigs.values()].filter(({ template }) =>
    isPlain(template),
  );
  for (const { id } of rows)
    await committer.run(async (unit) => {
      const { template } = await unit.sql
        .selectFrom("cloud_configs")
        .select("template")
        .where("id", "=", id)
        .executeTakeFirstOrThrow();
      if (!isPlain(template)) return;
      const sealed = vault.seal(template, sealContext.cloudConfig(id));
      await tables.cloudConfigs.update(unit, id, { template: sealed });
    });
}
