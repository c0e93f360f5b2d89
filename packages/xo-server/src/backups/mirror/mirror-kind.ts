import { XoError } from "@xo-server/model";
import type { Job } from "@xo-server/store";
import type { JobKind, KindRun } from "../../jobs/job-kind.js";
import { userOfJob } from "../../jobs/job-user.js";
import type { MirrorBody } from "../../jobs/mirror-body.js";
import type { RunOutcome } from "../../jobs/run-outcome.js";
import { settingsOf } from "../jobs/settings.js";
import { verificationOf } from "../repositories/verification.js";
import { timezoneOf } from "../run/run-timezone.js";
import { runItems } from "../run/run-items.js";
import { chooseMissing } from "./choose-copies.js";
import { groupSources, keyOf, type MirroredItem } from "./mirror-index.js";
import type { MirrorKindParts } from "./mirror-parts.js";
import { MirrorTarget } from "./mirror-target.js";

const DEFAULT_CONCURRENCY = 2;

/** Runs of the job type `mirrorBackup`: copies backups of one repository into others. */
export class MirrorKind implements JobKind {
  readonly #parts: MirrorKindParts;

  constructor(parts: MirrorKindParts) {
    this.#parts = parts;
  }

  check(body: object): void {
    const { source, repositories } = body as MirrorBody;
    for (const id of [source, ...repositories])
      this.#parts.repositories.get(id);
    if (repositories.includes(source))
      throw new XoError("INVALID_PARAMETERS", {
        reason: "a repository cannot be copied into itself",
      });
  }

  /** Returns the backups that each target lacks. */
  async plan(job: Job): Promise<object> {
    const body = job.body as MirrorBody;
    const items = await this.#items(job, undefined);
    const targets = await this.#openTargets(body, { job: job.id, run: "" });
    const timezone = timezoneOf(this.#parts.store, { job }, body);
    return {
      total: items.length,
      items: items.map((item) => ({
        type: item.type,
        id: item.id,
        name: item.name,
        repositories: targets.map((target) => ({
          repository: target.id,
          name: target.name,
          missing: chooseMissing(item.backups, target.copiesOf(keyOf(item)), {
            rules: body.retention,
            timezone,
          }).length,
        })),
      })),
    };
  }

  async run(run: KindRun): Promise<RunOutcome> {
    const { clock, isStopping, store } = this.#parts;
    const { job, scheduleId, interrupted, choice } = run;
    const settings = settingsOf(job.body as MirrorBody, scheduleId);
    const rules = {
      rules: settings.retention,
      timezone: timezoneOf(store, run, settings),
    };
    let targets: readonly MirrorTarget[] = [];
    return runItems<MirroredItem>(run, {
      clock,
      isStopping,
      concurrency: settings.concurrency ?? DEFAULT_CONCURRENCY,
      listItems: async () => {
        const isResumed = interrupted !== undefined;
        const ids = { job: job.id, run: run.runId };
        targets = await this.#openTargets(settings, ids, isResumed);
        return this.#items(job, choice?.vms);
      },
      process: async (item, work, deletions) => {
        const repositories = [];
        const warnings = damagedWarnings(item);
        for (const target of targets) {
          work.signal.throwIfAborted();
          repositories.push(
            await target.copy(item, { rules, deletions }, work),
          );
        }
        const failed = repositories.filter(({ error }) => error !== undefined);
        return {
          repositories,
          ...(warnings.length === 0 ? {} : { warnings }),
          ...(failed.length === 0 ? {} : { error: failed[0]!.error! }),
        };
      },
    });
  }

  /** @throws XoError FORBIDDEN, BACKUP_REPOSITORY_* of the source */
  async #items(
    job: Job,
    chosen: readonly string[] | undefined,
  ): Promise<MirroredItem[]> {
    const { users, repositories, archives, index } = this.#parts;
    const { source, vms } = job.body as MirrorBody;
    if (!userOfJob(users, job).isAdmin)
      throw new XoError("FORBIDDEN", {
        reason: "repositories are copied for administrators only",
      });
    // Reported even if the index contains nothing to copy.
    const { state } = repositories.getEnabled(source);
    await archives.refresh(source);
    const all = await groupSources(
      index.list({ repository: source }),
      (archive) => verificationOf(state, archive) === "damaged",
    );
    const requested = vms && new Set(vms);
    const isWanted = ({ type, id }: MirroredItem) =>
      (requested === undefined || (type === "VM" && requested.has(id))) &&
      (chosen === undefined || (type === "VM" && chosen.includes(id)));
    return all.filter(isWanted);
  }

  #openTargets(
    { source, repositories, maxRate }: MirrorBody,
    ids: { readonly job: string; readonly run: string },
    isResumed = false,
  ): Promise<MirrorTarget[]> {
    return Promise.all(
      repositories.map(async (id) => {
        const target = new MirrorTarget(this.#parts, {
          id,
          source,
          ...ids,
          maxRate,
        });
        await target.open(isResumed);
        return target;
      }),
    );
  }
}

function damagedWarnings({ backups }: MirroredItem): string[] {
  const damaged = backups.filter(({ isDamaged }) => isDamaged).length;
  return damaged === 0
    ? []
    : [`${damaged} damaged backups of the source are left out`];
}
