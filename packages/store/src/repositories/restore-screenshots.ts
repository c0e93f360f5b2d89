import { checkText, limits } from "../schema/limits.js";
import { sealContext } from "../secrets/sealed-columns.js";
import type { WriteUnit } from "../commit/write-unit.js";
import type { RepositoryContext } from "./repository-context.js";

/** The screenshot of the console in the last restore test of a backup. */
export interface RestoreScreenshot {
  /** Id of the archive: `<repository>/<backup>` */
  readonly id: string;
  readonly repository: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** PNG, base64. */
  readonly png: string;
}

/** Screenshots that are kept of a repository. */
const MAX_SCREENSHOTS = 200;

/**
 * Screenshots of restore tests, in the database only; encrypted, as they show guests.
 * They are deleted with their archives; their table is `restore_pictures`. All methods throw XoError STORE_UNAVAILABLE
 * while the database is unreachable.
 */
export class RestoreScreenshots {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  /** @param id of the archive */
  async get(id: string): Promise<RestoreScreenshot | undefined> {
    const { engine, availability, vault } = this.#context;
    const row = await availability.run(() =>
      engine.reader
        .selectFrom("restore_pictures")
        .selectAll()
        .where("id", "=", id)
        .executeTakeFirst(),
    );
    return (
      row && {
        id,
        repository: row.repository_id,
        time: row.taken_at,
        png: vault.open(row.picture_sealed, sealContext.restoreScreenshot(id)),
      }
    );
  }

  /** Replaces that of the archive; of each repository the newest 200 stay. @throws XoError VALUE_TOO_LARGE */
  async put({ id, repository, time, png }: RestoreScreenshot): Promise<void> {
    const { committer, vault } = this.#context;
    const text = checkText("the screenshot", png, limits.jsonBytes);
    const row = {
      id,
      repository_id: repository,
      taken_at: time,
      picture_sealed: vault.seal(text, sealContext.restoreScreenshot(id)),
    };
    await committer.run(async (unit) => {
      await unit.sql
        .insertInto("restore_pictures")
        .values(row)
        .onConflict((conflict) => conflict.column("id").doUpdateSet(row))
        .execute();
      const old = await unit.sql
        .selectFrom("restore_pictures")
        .select("id")
        .where("repository_id", "=", repository)
        .orderBy("taken_at", "desc")
        .limit(MAX_SCREENSHOTS)
        .offset(MAX_SCREENSHOTS)
        .execute();
      for (const one of old)
        await unit.sql
          .deleteFrom("restore_pictures")
          .where("id", "=", one.id)
          .execute();
    });
  }

  /** Encrypts all with the current key. */
  async reseal(unit: WriteUnit): Promise<void> {
    const { vault } = this.#context;
    const ids = await unit.sql
      .selectFrom("restore_pictures")
      .select("id")
      .execute();
    for (const { id } of ids) {
      const { picture_sealed } = await unit.sql
        .selectFrom("restore_pictures")
        .select("picture_sealed")
        .where("id", "=", id)
        .executeTakeFirstOrThrow();
      const context = sealContext.restoreScreenshot(id);
      const text = vault.open(picture_sealed, context);
      await unit.sql
        .updateTable("restore_pictures")
        .set({ picture_sealed: vault.seal(text, context) })
        .where("id", "=", id)
        .execute();
    }
  }
}
