import type {
  BackupOrderResult,
  BackupToSeveralOperation,
  BenchmarkResult,
  MirrorResult,
  OpenResult,
  RepositoryInspection,
  RepositoryAccess,
  StorageLocation,
  WorkOperation,
} from "@xo-server/backup";
import { XoError } from "@xo-server/model";
import type {
  AddedRepository,
  NewCopy,
  NewRepository,
  RepositoriesOptions,
  RepositoryPatch,
} from "./repository-input.js";
import {
  isProblemOfRepository,
  readOnlyError,
  toRepositoryError,
} from "./repository-error.js";
import {
  afterInspection,
  afterOrder,
  checkNew,
  toOptions,
  toRecord,
  type OrderOutcome,
  type RepositoryRecord,
  type RepositoryState,
} from "./repository-record.js";
import {
  changeLocation,
  parseRepositoryUrl,
  toCredentials,
  toStorage,
  type RepositoryLocation,
} from "./repository-url.js";
import { openOrCreate } from "./open-or-create.js";
import { backUpToSeveral, type SeveralTarget } from "./several.js";
import type { WorkerRunOptions } from "./workers.js";

/** Maximum number of benchmark results that are kept. */
const MAX_BENCHMARKS = 10;

/** The backup repositories. Worker processes do all work on them. */
export class Repositories {
  readonly #options: RepositoriesOptions;
  readonly #listeners = new Set<(id: string) => void>();

  constructor(options: RepositoriesOptions) {
    this.#options = options;
  }

  all(): RepositoryRecord[] {
    const { backupRepositories } = this.#options.store;
    return Array.from(backupRepositories.list(), toRecord);
  }

  /** @throws XoError NO_SUCH_OBJECT */
  get(id: string): RepositoryRecord {
    const found = this.#options.store.backupRepositories.get(id);
    if (found !== undefined) return toRecord(found);
    throw new XoError("NO_SUCH_OBJECT", { type: "backup repository", id });
  }

  /** @param listener called with the id of a repository whose log has changed, or that can be used again */
  onLogChange(listener: (id: string) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /**
   * Opens the repository at a URL, or creates one in an empty folder.
   * @throws XoError INVALID_PARAMETERS, ALREADY_EXISTS, BACKUP_REPOSITORY_*
   */
  async add(repository: NewRepository): Promise<AddedRepository> {
    const { name, enabled = true, options = "" } = repository;
    const location = parseRepositoryUrl(repository.url);
    const storage = toStorage(location);
    checkNew(this.all(), (one) => one.url === location.url, location.url);
    const { passphrase = location.passphrase, recoveryKey } = repository;
    const opened = await openOrCreate(
      this.#options.workers,
      { storage, name },
      {
        passphrase,
        recoveryKey,
        parity: repository.parity ?? true,
      },
    );
    checkNew(
      this.all(),
      ({ state }) => state.repository === opened.id,
      location.url,
    );
    const { clock, store } = this.#options;
    const state: RepositoryState = {
      repository: opened.id,
      createdAt: opened.created,
      anchor: opened.anchor,
      parity: opened.parity,
      passphrases: opened.passphrases,
      // The sizes of an existing repository are read later.
      ...(opened.recoverySheet !== undefined && {
        inspectedAt: clock.now(),
        stored: 0,
      }),
    };
    const { id } = await store.backupRepositories.add({
      name,
      url: location.url,
      enabled,
      credentials: toCredentials(opened.recoveryKey, location),
      options: toOptions({ mount: options }, repository),
      state: { ...state },
    });
    this.#notify(id);
    const { recoverySheet } = opened;
    return { id, ...(recoverySheet === undefined ? {} : { recoverySheet }) };
  }

  /**
   * @throws XoError NO_SUCH_OBJECT, INVALID_PARAMETERS; BACKUP_REPOSITORY_* if another
   * URL does not have this repository
   */
  async update(id: string, patch: RepositoryPatch): Promise<void> {
    const { name, options: mount, enabled } = patch;
    const { backupRepositories } = this.#options.store;
    const record = this.get(id);
    const moved =
      patch.url === undefined ? undefined : await this.#move(record, patch.url);
    await backupRepositories.update(id, {
      ...(name === undefined ? {} : { name }),
      ...(enabled === undefined ? {} : { enabled }),
      ...moved?.change,
      options: toOptions(
        { ...record.options, ...(mount === undefined ? {} : { mount }) },
        patch,
      ),
    });
    if (moved === undefined) return;
    await this.#keep(id, moved.opened);
    this.#notify(id);
  }

  /** Removes it from the server; its files are not changed. @throws XoError NO_SUCH_OBJECT */
  async forget(id: string): Promise<void> {
    this.get(id);
    await this.#options.store.backupRepositories.delete(id);
  }

  /**
   * Executes an operation in a worker.
   * @throws XoError NO_SUCH_OBJECT, BACKUP_REPOSITORY_*, BACKUP_WORKER_FAILED, ABORTED
   */
  async run<T>(
    id: string,
    operation: WorkOperation,
    options: WorkerRunOptions = {},
  ): Promise<T> {
    const record = this.getEnabled(id);
    try {
      const storage = this.#storageOf(record);
      const result = await this.#call({ record, storage }, operation, options);
      await this.#keep(id, result as OrderOutcome);
      return result as T;
    } catch (error) {
      if (isProblemOfRepository(error)) await this.#keepProblem(id, error);
      throw error;
    }
  }

  /**
   * Copies a backup into a repository.
   * @param target its id
   * @param copy.source id of the repository that has the backup
   * @throws XoError as `run`; BACKUP_TRANSFER_FAILED for problems of the source
   */
  async mirror(
    target: string,
    { source, ...copy }: NewCopy,
    options: WorkerRunOptions = {},
  ): Promise<MirrorResult> {
    const result = await this.run<MirrorResult>(
      target,
      { type: "mirror", source: this.accessOf(source), ...copy },
      options,
    );
    await this.#keep(source, { anchor: result.sourceAnchor });
    return result;
  }

  /**
   * Backs up to several repositories; the disks are read once.
   * @param targets their ids, with the backup that changes refer to
   * @returns in the order of the targets: what was stored, or why not
   * @throws XoError ABORTED, BACKUP_TRANSFER_FAILED, BACKUP_WORKER_FAILED: for all
   */
  async backUpToSeveral(
    targets: readonly SeveralTarget[],
    operation: Omit<BackupToSeveralOperation, "type" | "targets">,
    options: WorkerRunOptions = {},
  ): Promise<(BackupOrderResult | Error)[]> {
    const results = await backUpToSeveral(
      this.#options.workers,
      { ...operation, type: "backup-to-several" },
      {
        targets: targets.map(({ id, base }) => {
          const { name } = this.getEnabled(id);
          return { name, base, access: this.accessOf(id) };
        }),
        options,
      },
    );
    for (const [i, result] of results.entries())
      if (!(result instanceof Error)) await this.#keep(targets[i]!.id, result);
      else if (isProblemOfRepository(result))
        await this.#keepProblem(targets[i]!.id, result);
    return results;
  }

  /** Reads sizes and names of passphrases again. @throws XoError as `run` */
  async inspect(id: string, signal?: AbortSignal): Promise<void> {
    const seen = await this.run<RepositoryInspection>(
      id,
      { type: "inspect" },
      { signal },
    );
    const now = this.#options.clock.now();
    await this.changeState(id, (state) => afterInspection(state, seen, now));
    if (seen.readOnly !== undefined)
      await this.#keepProblem(id, readOnlyError(seen.readOnly, this.get(id)));
  }

  /** Writes, reads and removes a file. @param size in bytes @throws XoError as `run` */
  async benchmark(
    id: string,
    size: number,
    signal?: AbortSignal,
  ): Promise<Omit<BenchmarkResult, "anchor">> {
    const { readRate, writeRate } = await this.run<BenchmarkResult>(
      id,
      { type: "benchmark", size },
      { signal },
    );
    const measured = { time: this.#options.clock.now(), readRate, writeRate };
    await this.changeState(id, (state) => ({
      ...state,
      benchmarks: [...(state.benchmarks ?? []), measured].slice(
        -MAX_BENCHMARKS,
      ),
    }));
    return { readRate, writeRate };
  }

  /** @returns the names of all @throws XoError as `run` */
  async changePassphrases(
    id: string,
    operation: Extract<
      WorkOperation,
      { type: "add-passphrase" | "remove-passphrase" }
    >,
  ): Promise<string[]> {
    await this.run(id, operation);
    const { passphrases } = await this.run<OpenResult>(id, { type: "open" });
    await this.changeState(id, (state) => ({ ...state, passphrases }));
    return [...passphrases];
  }

  /** @throws XoError NO_SUCH_OBJECT */
  changeState(
    id: string,
    change: (state: RepositoryState) => RepositoryState,
  ): Promise<void> {
    return this.#options.store.backupRepositories.changeState(id, (state) => ({
      ...change(state),
    }));
  }

  /** @returns undefined: URL and credentials are the present ones */
  async #move(record: RepositoryRecord, text: string) {
    const stored = this.#secretOf(record.id);
    const location = changeLocation(text, { url: record.url, ...stored });
    const { url, secretAccessKey } = location;
    if (url === record.url && secretAccessKey === stored.secretAccessKey)
      return undefined;
    const opened = (await this.#call(
      { record, storage: toStorage(location) },
      { type: "open" },
    )) as OpenResult;
    if (opened.id !== record.state.repository)
      throw new XoError("BACKUP_REPOSITORY_REFUSED", {
        repository: record.name,
        reason: `${url} holds another repository (${opened.id})`,
      });
    const { backupRepositories } = this.#options.store;
    const { recoveryKey } = backupRepositories.credentials(record.id);
    const credentials = toCredentials(recoveryKey, location);
    return { change: { url, credentials }, opened };
  }

  /** @throws XoError NO_SUCH_OBJECT, BACKUP_REPOSITORY_DISABLED */
  getEnabled(id: string): RepositoryRecord {
    const record = this.get(id);
    if (record.enabled) return record;
    throw new XoError("BACKUP_REPOSITORY_DISABLED", {
      repository: record.name,
    });
  }

  /** Location and keys, for orders only. @throws XoError as `getEnabled` */
  accessOf(id: string): RepositoryAccess {
    const record = this.getEnabled(id);
    return this.#accessOf(record, this.#storageOf(record));
  }

  #storageOf({ id, url }: RepositoryRecord): StorageLocation {
    return toStorage({ ...parseRepositoryUrl(url), ...this.#secretOf(id) });
  }

  #accessOf(
    { id, state: { anchor } }: RepositoryRecord,
    storage: StorageLocation,
  ): RepositoryAccess {
    const { store } = this.#options;
    const { recoveryKey } = store.backupRepositories.credentials(id);
    return {
      storage,
      ...(recoveryKey === undefined ? {} : { recoveryKey }),
      ...(anchor === undefined ? {} : { anchor }),
    };
  }

  #secretOf(id: string): Pick<RepositoryLocation, "secretAccessKey"> {
    const { secretAccessKey } =
      this.#options.store.backupRepositories.credentials(id);
    return secretAccessKey === undefined ? {} : { secretAccessKey };
  }

  async #call(
    { record, storage }: { record: RepositoryRecord; storage: StorageLocation },
    operation: WorkOperation,
    options: WorkerRunOptions = {},
  ): Promise<unknown> {
    try {
      return await this.#options.workers.run(
        { ...this.#accessOf(record, storage), operation },
        options,
      );
    } catch (error) {
      throw toRepositoryError(error, record.name);
    }
  }

  /** Stores the state after an order. Orders may end in any order. */
  async #keep(id: string, outcome: OrderOutcome): Promise<void> {
    const { state } = this.get(id);
    const changed = afterOrder(state, outcome);
    if (changed === state) return;
    await this.changeState(id, (newest) => afterOrder(newest, outcome));
    const isBack = state.problem !== undefined && !changed.problem;
    if (isBack || changed.anchor !== state.anchor) this.#notify(id);
  }

  async #keepProblem(id: string, error: XoError): Promise<void> {
    const { clock, logger } = this.#options;
    const { code, message, data } = error;
    try {
      await this.changeState(id, (state) => ({
        ...state,
        problem: {
          code,
          message,
          ...(data && { data }),
          since: state.problem?.since ?? clock.now(),
        },
      }));
    } catch (reason) {
      // The caller gets the original error, which is more important.
      logger.warn(`state of backup repository ${id} was not stored`, {
        error: reason,
      });
    }
  }

  #notify(id: string): void {
    for (const listener of this.#listeners) listener(id);
  }
}
