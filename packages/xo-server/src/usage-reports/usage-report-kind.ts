import { XoError } from "@xo-server/model";
import type { Job, Store } from "@xo-server/store";
import type { AuthenticatedUsers } from "../auth/users/authenticated-users.js";
import type { JobKind, KindRun } from "../jobs/job-kind.js";
import type { RunBody, RunOutcome } from "../jobs/run-outcome.js";
import type { UsageReportBody } from "../jobs/usage-report-body.js";
import type { SendMail } from "../notifications/mail-sender.js";
import { toFailure } from "../tasks/task-view.js";
import { readUsage, type UsageReportSources } from "./read-usage.js";
import { subjectOf, toMail } from "./report-mail.js";
import {
  compare,
  toStored,
  type StoredUsage,
  type UsageFigures,
} from "./usage-figures.js";

interface UsageReportParts extends UsageReportSources {
  readonly store: Pick<Store, "jobRuns">;
  readonly users: Pick<AuthenticatedUsers, "get">;
  readonly sendMail: SendMail;
}

interface UsageRunBody extends RunBody {
  readonly usage?: StoredUsage;
}

/** Number of runs in which the previous period is searched. */
const SEARCHED_RUNS = 50;

/**
 * Runs of the job type `usageReport`: sends the resource usage of pools and its
 * changes by mail.
 */
export class UsageReportKind implements JobKind {
  readonly #parts: UsageReportParts;

  constructor(parts: UsageReportParts) {
    this.#parts = parts;
  }

  /** Pools may be unknown: their servers may be disconnected when the job is stored. */
  check(): void {
    return;
  }

  /** The report as it would be sent now. */
  async plan(job: Job): Promise<object> {
    const { signal } = new AbortController();
    const figures = await this.#read(job, signal);
    const { addresses } = job.body as UsageReportBody;
    const subject = subjectOf(figures, job.name);
    return { total: figures.pools.length, subject, addresses, figures };
  }

  async run({ job, runId, work }: KindRun): Promise<RunOutcome> {
    const { addresses } = job.body as UsageReportBody;
    try {
      const figures = await this.#read(job, work.signal);
      const mail = toMail(figures, job.name);
      // The id is that of the run: a run that is repeated after a crash sends the same message.
      await this.#parts.sendMail({ id: runId, addresses, ...mail });
      const body: UsageRunBody = { usage: toStored(figures) };
      return { status: "success", body };
    } catch (error) {
      const status = work.signal.aborted ? "aborted" : "failure";
      return { status, body: { error: toFailure(error as Error) } };
    }
  }

  /** @throws XoError FORBIDDEN: the report is of all objects; NO_SUCH_OBJECT */
  async #read(job: Job, signal: AbortSignal): Promise<UsageFigures> {
    const { userId = "" } = job;
    if (this.#parts.users.get(userId)?.isAdmin !== true)
      throw new XoError("FORBIDDEN", { permission: "admin" });
    const body = job.body as UsageReportBody;
    const figures = await readUsage(body, this.#parts, signal);
    return compare(figures, await this.#lastOf(job.id));
  }

  async #lastOf(jobId: string): Promise<StoredUsage | undefined> {
    const options = { jobId, limit: SEARCHED_RUNS };
    const { runs } = await this.#parts.store.jobRuns.list(options);
    for (const { status, body } of runs)
      if (status === "success") return (body as UsageRunBody).usage;
    return undefined;
  }
}
