import type { BackupOrderResult } from "@xo-server/backup";
import { XoError } from "@xo-server/model";
import type { KindRun } from "../../jobs/job-kind.js";
import type { MetadataBody } from "../../jobs/metadata-body.js";
import type { TaskContext } from "../../tasks/task-context.js";
import { ITEM_TYPES } from "../archives/archive.js";
import { toLoggedError } from "../report/backup-log.js";
import type { ItemRepositoryEntry } from "../report/item-log.js";
import { expired } from "../run/apply-retention.js";
import type { Deletions } from "../run/deletions.js";
import type { ItemResult } from "../run/run-items.js";
import type { MetadataKindParts } from "./metadata-parts.js";
import type { MetadataSource } from "./metadata-source.js";
import { ownedSignal } from "../../tasks/owned-signal.js";

interface MetadataRun {
  readonly run: KindRun;
  readonly settings: MetadataBody;
  readonly timezone: string | undefined;
}

interface RetentionOptions {
  readonly source: MetadataSource;
  readonly deletions: Deletions;
  readonly warnings: string[];
}

type Parts = Pick<MetadataKindParts, "repositories" | "archives" | "clock">;

/** Stores metadata in each repository of the job, and applies the retention there. */
export class MetadataStorer {
  readonly #parts: Parts;
  readonly #run: MetadataRun;

  constructor(parts: Parts, run: MetadataRun) {
    this.#parts = parts;
    this.#run = run;
  }

  /** A failure in one repository does not affect others. */
  async store(
    source: MetadataSource,
    work: TaskContext,
    deletions: Deletions,
  ): Promise<ItemResult> {
    const about = await source.describe();
    const warnings: string[] = [];
    const retention = { source, deletions, warnings };
    const entries: ItemRepositoryEntry[] = [];
    for (const repository of this.#run.settings.repositories) {
      work.signal.throwIfAborted();
      const entry = await this.#storeIn(repository, { source, about }, work);
      entries.push(await this.#applyRetention(entry, retention));
    }
    const failure = failureOf(entries);
    return {
      repositories: entries,
      ...(warnings.length === 0 ? {} : { warnings }),
      ...(failure === undefined ? {} : { error: toLoggedError(failure) }),
    };
  }

  async #storeIn(
    repository: string,
    what: { readonly source: MetadataSource; readonly about: object },
    work: TaskContext,
  ): Promise<ItemRepositoryEntry> {
    const { clock, repositories } = this.#parts;
    const start = clock.now();
    let name = repository;
    try {
      name = repositories.get(repository).name;
      const stored =
        (await this.#storedBefore(repository, what.source)) ??
        toFigures(await this.#write(repository, what, work));
      const end = clock.now();
      return { repository, name, status: "success", start, end, ...stored };
    } catch (error) {
      const end = clock.now();
      const logged = toLoggedError(error);
      return { repository, name, status: "failure", start, end, error: logged };
    }
  }

  /** A backup that was stored before the server stopped; undefined: there is none. */
  async #storedBefore(
    repository: string,
    source: MetadataSource,
  ): Promise<Pick<ItemRepositoryEntry, "backup"> | undefined> {
    const { archives } = this.#parts;
    const { interrupted, runId } = this.#run.run;
    if (interrupted === undefined) return undefined;
    await archives.refresh(repository, true);
    const all = await archives.ofItem(repository, source);
    const found = all.find(({ run }) => run === runId);
    return found && { backup: found.backup };
  }

  #write(
    repository: string,
    { source, about }: { source: MetadataSource; about: object },
    work: TaskContext,
  ): Promise<BackupOrderResult> {
    const { job, runId, scheduleId } = this.#run.run;
    const properties = {
      type: ITEM_TYPES[source.type],
      job: job.id,
      jobName: job.name,
      ...(scheduleId === undefined ? {} : { schedule: scheduleId }),
      run: runId,
      time: this.#parts.clock.now(),
      ...about,
    };
    return source.read(work, ({ disk, secrets }) =>
      this.#parts.repositories.run(
        repository,
        {
          type: "backup",
          key: `run ${runId} ${source.type} ${source.id}`,
          properties: {
            ...properties,
            ...(secrets === undefined ? {} : { secrets }),
          },
          disks: [disk],
        },
        { signal: ownedSignal(work) },
      ),
    );
  }

  async #applyRetention(
    entry: ItemRepositoryEntry,
    { source, deletions, warnings }: RetentionOptions,
  ): Promise<ItemRepositoryEntry> {
    const { backup, repository, name } = entry;
    if (backup === undefined) return entry;
    const { archives } = this.#parts;
    try {
      await archives.refresh(repository);
      const deleted = await deletions.delete(
        repository,
        expired(
          await archives.ofItem(repository, source),
          this.#rulesOf(source, repository, backup),
        ),
        (ids) => archives.remove(repository, ids),
      );
      return deleted.length === 0 ? entry : { ...entry, deleted };
    } catch (error) {
      const { message } = error as Error;
      warnings.push(`old backups in ${name} are left: ${message}`);
      return entry;
    }
  }

  #rulesOf({ type }: MetadataSource, repository: string, newest: string) {
    const { run, settings, timezone } = this.#run;
    const { scheduleId, job } = run;
    const { retention, serverRetention = retention } = settings;
    const own =
      scheduleId && (job.body as MetadataBody).schedules?.[scheduleId];
    return {
      job: job.id,
      // The retention of a schedule applies to its own backups.
      schedule: own ? scheduleId : undefined,
      repository,
      newest,
      rules: type === "pool" ? retention : serverRetention,
      timezone,
    };
  }
}

function toFigures({
  id,
  disks,
}: BackupOrderResult): Pick<ItemRepositoryEntry, "backup" | "read" | "stored"> {
  const sum = (key: "read" | "stored") =>
    disks.reduce((total, disk) => total + disk[key], 0);
  return { backup: id, read: sum("read"), stored: sum("stored") };
}

function failureOf(
  entries: readonly ItemRepositoryEntry[],
): XoError | undefined {
  const failed = entries.filter(({ status }) => status === "failure");
  if (failed.length === 0) return undefined;
  return new XoError("SOME_FAILED", {
    what: "the backup",
    failed: failed.length,
    total: entries.length,
    reasons: failed
      .map(({ name, error }) => {
        const { message = "unknown" } = (error ?? {}) as { message?: string };
        return `${name}: ${message}`;
      })
      .join("; "),
  });
}
