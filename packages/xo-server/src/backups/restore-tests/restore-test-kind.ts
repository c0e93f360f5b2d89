import { XoError } from "@xo-server/model";
import type { Job } from "@xo-server/store";
import type { AuthenticatedUser } from "../../auth/users/authenticated-user.js";
import type { AuthenticatedUsers } from "../../auth/users/authenticated-users.js";
import { inParallel } from "../../jobs/in-parallel.js";
import type { RestoreTestBody } from "../../jobs/job-body.js";
import type { JobKind, KindRun } from "../../jobs/job-kind.js";
import type { RunOutcome } from "../../jobs/run-outcome.js";
import { userOfJob } from "../../jobs/job-user.js";
import { statusOfRun } from "../../jobs/run-status.js";
import { withSignal } from "../../tasks/with-signal.js";
import { checkObject } from "../../operations/access.js";
import type { HandlerContext } from "../../operations/operation.js";
import type { InterruptedTask } from "../../tasks/interrupted-task.js";
import type { TaskContext } from "../../tasks/task-context.js";
import { takenAt } from "../archives/archive.js";
import type { Archives } from "../archives/archives.js";
import { toLoggedError } from "../report/backup-log.js";
import {
  chooseTests,
  type ChooseParts,
  type ChosenTest,
} from "./choose-tests.js";
import { BOOT_MS, newTest, type RestoreTestState } from "./restore-test.js";
import {
  removeInterrupted,
  runRestoreTest,
  type RestoreTestContext,
} from "./run-restore-test.js";
import {
  toTestRunBody,
  type TestLogEntry,
  type TestRunBody,
} from "./test-log.js";
import { stepsOf, withPrefix } from "./with-prefix.js";

interface RestoreTestKindParts
  extends ChooseParts, Omit<RestoreTestContext, "check" | "signal" | "now"> {
  readonly archives: Archives;
  readonly repositories: RestoreTestContext["repositories"];
  readonly users: Pick<AuthenticatedUsers, "get">;
  readonly isStopping: () => boolean;
}

/** What a run would do now. */
interface RestoreTestPlan {
  readonly total: number;
  /** At most 100. */
  readonly tests: readonly {
    readonly vm: string;
    readonly name: string;
    /** Id of the archive. */
    readonly backup: string;
    readonly repository: string;
    /** Milliseconds since the epoch. */
    readonly time: number;
  }[];
  readonly excluded: readonly {
    readonly vm: string;
    readonly name: string;
    readonly reason: string;
  }[];
}

const MAX_PLANNED = 100;
/** Prefix of the steps of the test of a VM. */
const prefixOf = (vm: string) => `test ${vm} `;
/** Key of the step of a test that has ended. */
const ENTRY = "entry";

/** Runs of the job type `restore-test`. */
export class RestoreTestKind implements JobKind {
  readonly #parts: RestoreTestKindParts;

  constructor(parts: RestoreTestKindParts) {
    this.#parts = parts;
  }

  check(body: object): void {
    const { repositories = [] } = body as RestoreTestBody;
    for (const id of repositories) this.#parts.repositories.get(id);
  }

  async plan(job: Job): Promise<RestoreTestPlan> {
    const body = job.body as RestoreTestBody;
    const { tests, skipped } = await this.#choose(job, body);
    return {
      total: tests.length,
      tests: tests
        .slice(0, MAX_PLANNED)
        .map(({ vm, name, archive, repositoryName }) => ({
          vm,
          name,
          backup: archive.id,
          repository: repositoryName,
          time: takenAt(archive),
        })),
      excluded: skipped.slice(0, MAX_PLANNED),
    };
  }

  async run(run: KindRun): Promise<RunOutcome> {
    const { job, work, interrupted } = run;
    const body = job.body as RestoreTestBody;
    try {
      const { tests, skipped } = await this.#choose(job, body);
      const now = this.#parts.clock.now();
      const entries: TestLogEntry[] = skipped.map((one) => ({
        ...one,
        status: "skipped",
        start: now,
        end: now,
      }));
      const notBegun = await inParallel(
        tests,
        {
          concurrency: body.concurrency ?? 1,
          isOver: () => work.signal.aborted || this.#parts.isStopping(),
        },
        async (test) => {
          entries.push(await this.#runOne(run, test, interrupted));
          reportCounts(work, entries, tests.length + skipped.length);
        },
      );
      const more = notBegun === 0 ? {} : { notBegun };
      return this.#outcome(work, toTestRunBody(entries, more));
    } catch (error) {
      return this.#outcome(
        work,
        toTestRunBody([], { error: toLoggedError(error) }),
      );
    }
  }

  /** Never rejects. */
  async #runOne(
    run: KindRun,
    chosen: ChosenTest,
    interrupted: InterruptedTask | undefined,
  ): Promise<TestLogEntry> {
    const { clock } = this.#parts;
    const { vm, name, archive, repositoryName } = chosen;
    const prefix = prefixOf(vm);
    const steps = stepsOf(interrupted?.steps ?? new Map(), prefix);
    const done = steps.get(ENTRY) as TestLogEntry | undefined;
    if (done !== undefined) return done;
    const start = clock.now();
    const about = {
      archive: archive.id,
      repository: repositoryName,
      time: takenAt(archive),
    };
    let entry: TestLogEntry;
    try {
      const { success, durationMs, error, ...report } = await run.work.part(
        `VM ${name}`,
        (part) =>
          this.#test(run.job, chosen, {
            part: withPrefix(part, prefix),
            interrupted: interrupted && { ...before(interrupted), steps },
          }),
      );
      entry = {
        vm,
        name,
        start,
        end: start + durationMs,
        status: success ? "success" : "failure",
        test: { ...about, ...report },
        ...(error === undefined ? {} : { error: { message: error } }),
      };
    } catch (error) {
      entry = {
        vm,
        name,
        start,
        end: clock.now(),
        status: run.work.signal.aborted ? "aborted" : "failure",
        test: about,
        error: toLoggedError(error),
      };
    }
    // If the stop of the server interrupts the run, the next process repeats this test.
    if (!this.#parts.isStopping())
      await run.work.persistStep(`${prefix}${ENTRY}`, entry);
    return entry;
  }

  async #test(
    job: Job,
    { archive: { id } }: ChosenTest,
    {
      part,
      interrupted,
    }: {
      readonly part: TaskContext;
      readonly interrupted: InterruptedTask | undefined;
    },
  ) {
    const { clock, objects, archives } = this.#parts;
    const body = job.body as RestoreTestBody;
    const { sr, network = "closed", bootTimeout = BOOT_MS, timeout } = body;
    const user = userOfJob(this.#parts.users, job);
    this.#checkRepository(user, id);
    const state = interrupted?.steps.get("state") as
      | RestoreTestState
      | undefined;
    if (state !== undefined && interrupted !== undefined)
      await removeInterrupted(state, { objects, archives }, part, interrupted);
    const late = new AbortController();
    const timer =
      timeout === undefined
        ? undefined
        : clock.setTimeout(() => {
            late.abort(new XoError("ABORTED", { what: "the restore test" }));
          }, timeout);
    const task = withSignal(part, late.signal);
    const check: HandlerContext["check"] = (action, resource, id) => {
      const entry = objects.find(id);
      checkObject(
        { user, permission: "user" },
        { action, resource },
        { id, entry, missing: (type, one) => objects.missing(type, one) },
      );
    };
    try {
      return await runRestoreTest(
        newTest({ id, sr, network, bootTimeout }),
        {
          ...this.#parts,
          check,
          signal: task.signal,
          now: () => clock.now(),
        },
        task,
      );
    } finally {
      clock.clearTimeout(timer);
    }
  }

  #choose(job: Job, body: RestoreTestBody) {
    return chooseTests(this.#parts, userOfJob(this.#parts.users, job), body);
  }

  /** @throws XoError FORBIDDEN */
  #checkRepository(user: AuthenticatedUser, archive: string): void {
    const [repository = ""] = archive.split("/");
    const { id, name, url } = this.#parts.repositories.get(repository);
    const type = "backup-repository";
    const permission = "administrate:restore";
    if (user.rights.may(permission, type, { id, type, name, url })) return;
    throw new XoError("FORBIDDEN", { permission, object: { id, type } });
  }

  #outcome(work: TaskContext, body: TestRunBody): RunOutcome {
    const isStopping = this.#parts.isStopping();
    return { status: statusOfRun(work, isStopping, body), body };
  }
}

function before(
  interrupted: InterruptedTask,
): Pick<InterruptedTask, "awaitOutcomes"> {
  return {
    awaitOutcomes: (part, into) => interrupted.awaitOutcomes(part, into),
  };
}

function reportCounts(
  work: TaskContext,
  entries: readonly TestLogEntry[],
  total: number,
): void {
  const { succeeded, failed } = toTestRunBody(entries);
  const waiting = Math.max(0, total - entries.length);
  work.reportCounts({ total, succeeded, failed, running: 0, waiting });
}
