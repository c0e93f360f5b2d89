import { XoError } from "@xo-server/model";
import type { Job } from "@xo-server/store";
import type { JobKind, KindRun } from "../../jobs/job-kind.js";
import { userOfJob } from "../../jobs/job-user.js";
import type { MetadataBody } from "../../jobs/metadata-body.js";
import type { RunOutcome } from "../../jobs/run-outcome.js";
import { settingsOf } from "../jobs/settings.js";
import { timezoneOf } from "../run/run-timezone.js";
import { runItems } from "../run/run-items.js";
import { configurationSource } from "./configuration-source.js";
import { poolSource } from "./pool-source.js";
import type { MetadataSource } from "./metadata-source.js";
import type { MetadataKindParts } from "./metadata-parts.js";
import { MetadataStorer } from "./metadata-storer.js";

const DEFAULT_CONCURRENCY = 2;

/** Runs of the job type `metadataBackup`: databases of pools, and the configuration of the server. */
export class MetadataKind implements JobKind {
  readonly #parts: MetadataKindParts;

  constructor(parts: MetadataKindParts) {
    this.#parts = parts;
  }

  /** Pools that are not connected now are accepted. */
  check(body: object): void {
    const { repositories } = body as MetadataBody;
    for (const id of repositories) this.#parts.repositories.get(id);
  }

  async plan(job: Job): Promise<object> {
    const items = this.#sources(job);
    const { repositories } = job.body as MetadataBody;
    return {
      total: items.length,
      items: items.map(({ type, id, name }) => ({ type, id, name })),
      repositories: repositories.map((id) => {
        const { name } = this.#parts.repositories.get(id);
        return { id, name };
      }),
    };
  }

  run(run: KindRun): Promise<RunOutcome> {
    const { clock, isStopping, store } = this.#parts;
    const settings = settingsOf(run.job.body as MetadataBody, run.scheduleId);
    const storer = new MetadataStorer(this.#parts, {
      run,
      settings,
      timezone: timezoneOf(store, run, settings),
    });
    return runItems<MetadataSource>(run, {
      clock,
      isStopping,
      concurrency: settings.concurrency ?? DEFAULT_CONCURRENCY,
      listItems: () => this.#sources(run.job),
      process: (source, work, deletions) =>
        storer.store(source, work, deletions),
    });
  }

  /** @throws XoError FORBIDDEN */
  #sources(job: Job): MetadataSource[] {
    const { users, objects, files } = this.#parts;
    const { pools = [], server = false } = job.body as MetadataBody;
    // Both contain passwords of pools and hosts.
    if (!userOfJob(users, job).isAdmin)
      throw new XoError("FORBIDDEN", {
        reason:
          "databases of pools and the configuration are backed up for administrators only",
      });
    return [
      ...pools.map((id) => poolSource(objects, id)),
      ...(server ? [configurationSource(files)] : []),
    ];
  }
}
