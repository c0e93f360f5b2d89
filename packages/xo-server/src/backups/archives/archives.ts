import { XoError } from "@xo-server/model";
import type { ArchivePageOptions, Store } from "@xo-server/store";
import type { Logger } from "@xo-server/kit";
import { WorkerError, type ListResult } from "@xo-server/backup";
import type { Repositories } from "../repositories/repositories.js";
import {
  archiveId,
  itemOf,
  parseArchiveId,
  toArchive,
  toStored,
  UNINDEXED,
  type Archive,
} from "./archive.js";

interface ArchivesOptions {
  readonly store: Pick<Store, "backupArchives">;
  readonly repositories: Pick<
    Repositories,
    "run" | "get" | "all" | "changeState" | "onLogChange"
  >;
  readonly logger: Pick<Logger, "warn">;
}

/**
 * Number of manifests that a worker describes per order, which limits what the
 * server parses at once.
 */
const LIST_LIMIT = 200;
const PAGE = 1_000;

/**
 * The backups of all repositories: an index in the database, so that a list
 * needs no repository. It follows the log of each repository.
 */
export class Archives {
  readonly #options: ArchivesOptions;
  /** Refreshes that have not begun, by repository; later requests share them. */
  readonly #waiting = new Map<string, Promise<void>>();
  /** The last refresh of each repository; never rejects. */
  readonly #last = new Map<string, Promise<void>>();
  /**
   * Repositories that this process has compared with the index. A configuration
   * that was imported into another database contains the states of repositories,
   * but not the index.
   */
  readonly #compared = new Set<string>();
  readonly #stopListening: () => void;

  constructor(options: ArchivesOptions) {
    this.#options = options;
    this.#stopListening = options.repositories.onLogChange((id) => {
      this.#refreshSoon(id);
    });
  }

  /** Begins to read what has changed in all repositories. */
  refreshAll(): void {
    for (const { id } of this.#options.repositories.all())
      this.#refreshSoon(id);
  }

  #refreshSoon(id: string): void {
    // The next pass of the maintenance tries again.
    this.refresh(id).catch((error: unknown) =>
      this.#options.logger.warn(`backups of repository ${id} were not listed`, {
        error,
      }),
    );
  }

  stop(): void {
    this.#stopListening();
  }

  async find(id: string): Promise<Archive | undefined> {
    const stored = await this.#options.store.backupArchives.get(id);
    return stored && toArchive(stored);
  }

  /** @throws XoError NO_SUCH_OBJECT */
  async get(id: string): Promise<Archive> {
    const found = await this.find(id);
    if (found !== undefined) return found;
    throw new XoError("NO_SUCH_OBJECT", { type: "backup archive", id });
  }

  /** Backups of a VM, newest first. */
  ofVm(uuid: string): Promise<Archive[]> {
    return this.#all({ vm: uuid });
  }

  /** Backups in a repository, newest first. */
  ofRepository(id: string): Promise<Archive[]> {
    return this.#all({ repository: id });
  }

  /** Backups of a pool or of the configuration, newest first. */
  async ofItem(
    repository: string,
    item: { readonly type: string; readonly id: string },
  ): Promise<Archive[]> {
    const others = await this.#all({ repository, of: "other" });
    return others.filter((one) => {
      const own = itemOf(one);
      return (
        own?.type === item.type && (own.type !== "pool" || own.id === item.id)
      );
    });
  }

  /** All backups, newest first, in pages that are read on demand. */
  async *list(
    options: Pick<ArchivePageOptions, "repository" | "vm" | "of"> = {},
  ): AsyncGenerator<readonly Archive[], void, void> {
    let after: Archive | undefined;
    do {
      const page = await this.#options.store.backupArchives.list({
        ...options,
        limit: PAGE,
        ...(after === undefined ? {} : { after }),
      });
      const archives = page.map(toArchive);
      yield archives;
      after = page.length === PAGE ? archives.at(-1) : undefined;
    } while (after !== undefined);
  }

  /**
   * Reads what has changed in a repository since the index was created.
   * @throws XoError NO_SUCH_OBJECT, BACKUP_REPOSITORY_*
   */
  refresh(repository: string): Promise<void> {
    const waiting = this.#waiting.get(repository);
    if (waiting !== undefined) return waiting;
    const before = this.#last.get(repository) ?? Promise.resolve();
    const refresh = before.then(() => {
      this.#waiting.delete(repository);
      return this.#refresh(repository);
    });
    this.#waiting.set(repository, refresh);
    // The callers get the error.
    const ended = refresh.catch(() => undefined);
    this.#last.set(repository, ended);
    void ended.then(() => {
      if (this.#last.get(repository) === ended) this.#last.delete(repository);
    });
    return refresh;
  }

  /** Whether the index contains all known changes of the log. */
  isCurrent(repository: string): boolean {
    const { anchor, indexed } =
      this.#options.repositories.get(repository).state;
    return (
      this.#compared.has(repository) &&
      anchor !== undefined &&
      anchor.sequence === indexed
    );
  }

  /**
   * Deletes backups, with one order per repository. No data is moved: garbage
   * collection frees the space. Backups that no longer exist are ignored.
   * @param ids of archives
   * @throws XoError NO_SUCH_OBJECT, BACKUP_REPOSITORY_*
   */
  async remove(ids: readonly string[], signal?: AbortSignal): Promise<void> {
    const byRepository = new Map<string, string[]>();
    for (const id of new Set(ids)) {
      const { repository, backup } = parseArchiveId(id) ?? {};
      if (repository === undefined || backup === undefined)
        throw new XoError("NO_SUCH_OBJECT", { type: "backup archive", id });
      const backups = byRepository.get(repository) ?? [];
      byRepository.set(repository, [...backups, backup]);
    }
    for (const [repository, backups] of byRepository) {
      await this.#removeFrom(repository, backups, signal);
    }
  }

  async #removeFrom(
    repository: string,
    backups: readonly string[],
    signal?: AbortSignal,
  ): Promise<void> {
    const { repositories, store } = this.#options;
    const removeAll = (some: readonly string[]) =>
      repositories.run(
        repository,
        { type: "remove", backups: some },
        { signal },
      );
    try {
      await removeAll(backups);
    } catch (error) {
      const { cause } = error as Error;
      if (!(cause instanceof WorkerError && cause.code === "unknown"))
        throw error;
      // Another server has deleted some: the failed order did not return its newer state.
      await repositories.run(repository, { type: "open" }, { signal });
      await this.refresh(repository);
      const present = new Set(await store.backupArchives.idsOf(repository));
      const rest = backups.filter((one) =>
        present.has(archiveId(repository, one)),
      );
      if (rest.length > 0) await removeAll(rest);
    }
    await store.backupArchives.delete(
      backups.map((backup) => archiveId(repository, backup)),
    );
  }

  async #refresh(repository: string): Promise<void> {
    if (this.isCurrent(repository)) return;
    const { repositories, store } = this.#options;
    const prefix = `${repository}/`;
    let result: ListResult;
    do {
      const ids = await store.backupArchives.idsOf(repository);
      const known = ids.map((id) => id.slice(prefix.length));
      result = await repositories.run<ListResult>(repository, {
        type: "list",
        known,
        limit: LIST_LIMIT,
        omit: UNINDEXED,
      });
      await store.backupArchives.delete(
        result.removed.map((id) => prefix + id),
      );
      await store.backupArchives.put(
        result.backups.map((backup) => toStored(repository, backup)),
      );
    } while (result.more && result.backups.length > 0);
    const { sequence } = result.anchor;
    this.#compared.add(repository);
    const data = await this.#sumOf(repository);
    await repositories.changeState(repository, (state) => ({
      ...state,
      indexed: sequence,
      ...data,
      unreadable: result.damaged.slice(0, 100),
    }));
  }

  async #sumOf(
    repository: string,
  ): Promise<{ readonly data: number; readonly backups: number }> {
    let data = 0;
    let backups = 0;
    for await (const page of this.list({ repository })) {
      backups += page.length;
      for (const { sizes } of page) data += sizes.disks;
    }
    return { data, backups };
  }

  async #all(
    options: Pick<ArchivePageOptions, "repository" | "vm" | "of">,
  ): Promise<Archive[]> {
    const all: Archive[] = [];
    for await (const page of this.list(options)) all.push(...page);
    return all;
  }
}
