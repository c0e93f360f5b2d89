import { checkPageRows, toJson } from "../schema/limits.js";
import type { BackupArchiveRow } from "../schema/tables.js";
import type { RepositoryContext } from "./repository-context.js";

/** A backup in a repository, as the index has it. */
export interface BackupArchive {
  /** `<repository>/<backup>` */
  readonly id: string;
  readonly repository: string;
  /** UUID of the VM; absent: a backup of something else. */
  readonly vm?: string;
  /** Lists begin with the greatest. About the time of the backup, in ms since the epoch. */
  readonly order: number;
  /** JSON. */
  readonly body: unknown;
}

export interface ArchivePageOptions {
  readonly repository?: string;
  readonly vm?: string;
  /** Only backups of VMs, or only others. */
  readonly of?: "vm" | "other";
  /** Rows, 1 to 1,000. */
  readonly limit?: number;
  /** The last archive of the previous page. */
  readonly after?: Pick<BackupArchive, "order" | "id">;
}

/** Ids in one SQL statement. */
const IDS_AT_ONCE = 500;

/**
 * The index of the backups in all repositories, in the database only. All
 * methods throw XoError STORE_UNAVAILABLE while the database is unreachable.
 */
export class BackupArchives {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  async get(id: string): Promise<BackupArchive | undefined> {
    const { engine, availability } = this.#context;
    const row = await availability.run(() =>
      engine.reader
        .selectFrom("backup_archives")
        .selectAll()
        .where("id", "=", id)
        .executeTakeFirst(),
    );
    return row && toArchive(row);
  }

  /** A page, newest first. @throws XoError INVALID_PARAMETERS */
  async list(options: ArchivePageOptions = {}): Promise<BackupArchive[]> {
    const { engine, availability } = this.#context;
    const { repository, vm, of, after } = options;
    let query = engine.reader
      .selectFrom("backup_archives")
      .selectAll()
      .orderBy("made_at", "desc")
      .orderBy("id", "desc")
      .limit(checkPageRows(options.limit));
    if (repository !== undefined)
      query = query.where("repository_id", "=", repository);
    if (vm !== undefined) query = query.where("vm_id", "=", vm);
    if (of !== undefined)
      query = query.where("vm_id", of === "vm" ? "is not" : "is", null);
    if (after !== undefined)
      query = query.where((e) =>
        e.or([
          e("made_at", "<", after.order),
          e.and([e("made_at", "=", after.order), e("id", "<", after.id)]),
        ]),
      );
    return (await availability.run(() => query.execute())).map(toArchive);
  }

  /** Ids of all archives of a repository. */
  async idsOf(repository: string): Promise<string[]> {
    const { engine, availability } = this.#context;
    const rows = await availability.run(() =>
      engine.reader
        .selectFrom("backup_archives")
        .select("id")
        .where("repository_id", "=", repository)
        .execute(),
    );
    return rows.map(({ id }) => id);
  }

  /** Inserts or replaces. @throws XoError VALUE_TOO_LARGE */
  async put(archives: readonly BackupArchive[]): Promise<void> {
    const rows = archives.map(toRow);
    await this.#context.committer.run(async (unit) => {
      for (const row of rows)
        await unit.sql
          .insertInto("backup_archives")
          .values(row)
          .onConflict((conflict) => conflict.column("id").doUpdateSet(row))
          .execute();
    });
  }

  /** Deletes archives with their screenshots. Unknown ids are ignored. */
  async delete(ids: readonly string[]): Promise<void> {
    await this.#context.committer.run(async (unit) => {
      for (let at = 0; at < ids.length; at += IDS_AT_ONCE)
        for (const table of ["backup_archives", "restore_pictures"] as const)
          await unit.sql
            .deleteFrom(table)
            .where("id", "in", ids.slice(at, at + IDS_AT_ONCE))
            .execute();
    });
  }
}

function toRow(archive: BackupArchive): BackupArchiveRow {
  return {
    id: archive.id,
    repository_id: archive.repository,
    vm_id: archive.vm ?? null,
    made_at: archive.order,
    body_json: toJson("the archive", archive.body),
  };
}

function toArchive(row: BackupArchiveRow): BackupArchive {
  return {
    id: row.id,
    repository: row.repository_id,
    ...(row.vm_id === null ? {} : { vm: row.vm_id }),
    order: row.made_at,
    body: JSON.parse(row.body_json) as unknown,
  };
}
