import { checkName, checkText, toJson } from "../schema/limits.js";
import type { BackupRepositoryRow } from "../schema/tables.js";
import { sealContext } from "../secrets/sealed-columns.js";
import type { RepositoryContext } from "./repository-context.js";

/** Where backups are stored, without its secrets. */
export interface BackupRepository {
  readonly id: string;
  readonly name: string;
  /** Such as `file:///mnt/backups` or `s3://KEY@host/bucket`; without secrets. */
  readonly url: string;
  readonly enabled: boolean;
  readonly options: Readonly<Record<string, unknown>>;
  /** State at the last access: the anchor, sizes, results of verification. */
  readonly state: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface NewBackupRepository {
  readonly name: string;
  readonly url: string;
  readonly enabled?: boolean;
  /** The recovery key, keys of the storage. */
  readonly credentials: Readonly<Record<string, string>>;
  readonly options?: Readonly<Record<string, unknown>>;
  readonly state?: Readonly<Record<string, unknown>>;
}

/** Absent members do not change. */
type BackupRepositoryPatch = Partial<Omit<NewBackupRepository, "state">>;

/** Repositories of backups. Changes throw XoError STORE_UNAVAILABLE while the database is unreachable. */
export class BackupRepositories {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  get(id: string): BackupRepository | undefined {
    const row = this.#context.tables.backupRepositories.get(id);
    return row && toRepository(row);
  }

  *list(): IterableIterator<BackupRepository> {
    for (const row of this.#context.tables.backupRepositories.values())
      yield toRepository(row);
  }

  /** @throws XoError NO_SUCH_OBJECT, STORE_KEY_WRONG, SECRET_DAMAGED */
  credentials(id: string): Readonly<Record<string, string>> {
    const { tables, vault } = this.#context;
    const { credentials_sealed } = tables.backupRepositories.require(id);
    const context = sealContext.backupRepository(id);
    return JSON.parse(vault.open(credentials_sealed, context)) as Record<
      string,
      string
    >;
  }

  /** @throws XoError LIMIT_REACHED, VALUE_TOO_LARGE, INVALID_PARAMETERS */
  async add(repository: NewBackupRepository): Promise<BackupRepository> {
    const { tables, committer, clock, createId } = this.#context;
    const { name, url, enabled = true, options = {}, state = {} } = repository;
    const id = createId();
    const now = clock.now();
    const row: BackupRepositoryRow = {
      id,
      name: checkName("the name", name),
      url: checkText("the URL", url),
      enabled: Number(enabled),
      credentials_sealed: this.#seal(id, repository.credentials),
      options_json: toJson("the options", options),
      state_json: toJson("the state", state),
      created_at: now,
      updated_at: now,
    };
    await committer.run((unit) => tables.backupRepositories.insert(unit, row));
    return toRepository(row);
  }

  /** @throws XoError NO_SUCH_OBJECT, VALUE_TOO_LARGE, INVALID_PARAMETERS */
  async update(
    id: string,
    patch: BackupRepositoryPatch,
  ): Promise<BackupRepository> {
    const { tables, committer, clock } = this.#context;
    tables.backupRepositories.require(id);
    const { name, url, enabled, credentials, options } = patch;
    const columns: Partial<BackupRepositoryRow> = { updated_at: clock.now() };
    if (name !== undefined) columns.name = checkName("the name", name);
    if (url !== undefined) columns.url = checkText("the URL", url);
    if (enabled !== undefined) columns.enabled = Number(enabled);
    if (credentials !== undefined)
      columns.credentials_sealed = this.#seal(id, credentials);
    if (options !== undefined)
      columns.options_json = toJson("the options", options);
    return toRepository(
      await committer.run((unit) =>
        tables.backupRepositories.update(unit, id, columns),
      ),
    );
  }

  /**
   * Changes the state, from the newest one in the database.
   * @throws XoError NO_SUCH_OBJECT, VALUE_TOO_LARGE
   */
  async changeState(
    id: string,
    change: (state: BackupRepository["state"]) => BackupRepository["state"],
  ): Promise<void> {
    const { tables, committer } = this.#context;
    tables.backupRepositories.require(id);
    await committer.run(async (unit) => {
      const row = await unit.sql
        .selectFrom("backup_repositories")
        .select("state_json")
        .where("id", "=", id)
        .executeTakeFirst();
      const state = JSON.parse(row?.state_json ?? "{}") as object;
      const state_json = toJson("the state", change({ ...state }));
      await tables.backupRepositories.update(unit, id, { state_json });
    });
  }

  /**
   * Deletes a repository, its archives in the index and their screenshots, but not its files.
   * @throws XoError NO_SUCH_OBJECT
   */
  async delete(id: string): Promise<void> {
    const { tables, committer } = this.#context;
    tables.backupRepositories.require(id);
    await committer.run(async (unit) => {
      await tables.backupRepositories.remove(unit, id);
      for (const table of ["backup_archives", "restore_pictures"] as const)
        await unit.sql
          .deleteFrom(table)
          .where("repository_id", "=", id)
          .execute();
    });
  }

  #seal(id: string, credentials: Readonly<Record<string, string>>): string {
    const text = toJson("the credentials", credentials);
    const context = sealContext.backupRepository(id);
    return this.#context.vault.seal(text, context);
  }
}

function toRepository(row: BackupRepositoryRow): BackupRepository {
  return {
    id: row.id,
    name: row.name,
    url: row.url,
    enabled: row.enabled === 1,
    options: JSON.parse(row.options_json) as Record<string, unknown>,
    state: JSON.parse(row.state_json) as Record<string, unknown>,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
