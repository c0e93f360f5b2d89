import type { WallClock } from "@xo-server/kit";
import type { Catalog } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import type { Job, Store } from "@xo-server/store";
import type { AuthenticatedUser } from "../../auth/users/authenticated-user.js";
import type { AuthenticatedUsers } from "../../auth/users/authenticated-users.js";
import { inParallel } from "../../jobs/in-parallel.js";
import type { BackupBody } from "../../jobs/job-body.js";
import type { JobKind, KindRun } from "../../jobs/job-kind.js";
import type { RunOutcome } from "../../jobs/run-outcome.js";
import { userOfJob } from "../../jobs/job-user.js";
import { statusOfRun } from "../../jobs/run-status.js";
import { withSignal } from "../../tasks/with-signal.js";
import type { PoolObject, PoolObjects } from "../../objects/pool-objects.js";
import type { TaskContext } from "../../tasks/task-context.js";
import { Capacity } from "../jobs/capacity.js";
import { demandOf } from "../jobs/demand.js";
import { settingsOf } from "../jobs/settings.js";
import { selectVms, type SelectedVm } from "../jobs/vm-selection.js";
import { isWithin } from "../jobs/window.js";
import {
  toLoggedError,
  toRunBody,
  type BackupRunBody,
  type VmLogEntry,
} from "../report/backup-log.js";
import { planBackup, type BackupPlan } from "./backup-plan.js";
import { timezoneOf } from "./run-timezone.js";
import type { ArchiveAccess, RepositoryAccess } from "./repository-access.js";
import { textOf } from "./xapi-objects.js";
import { VmBackup } from "./vm-backup.js";
import { VM_STEP, type VmRunState } from "./vm-state.js";

interface BackupKindParts {
  readonly store: Pick<Store, "schedules">;
  readonly users: Pick<AuthenticatedUsers, "get">;
  readonly catalog: Catalog;
  readonly objects: PoolObjects;
  readonly repositories: RepositoryAccess;
  readonly archives: ArchiveAccess;
  readonly clock: WallClock;
  readonly isStopping: () => boolean;
  /** Called when a run has ended. */
  readonly onEnd?: (jobId: string, body: BackupRunBody) => void;
}

const DEFAULT_CONCURRENCY = 2;

/** Runs of the job type `backup`. */
export class BackupKind implements JobKind {
  readonly #parts: BackupKindParts;
  readonly #capacity = new Capacity();
  /** Ids of runs of this process. */
  readonly #active = new Set<string>();

  constructor(parts: BackupKindParts) {
    this.#parts = parts;
  }

  isActive(runId: string): boolean {
    return this.#active.has(runId);
  }

  check(body: object): void {
    const { repositories } = body as BackupBody;
    for (const id of repositories) this.#parts.repositories.get(id);
  }

  async plan(job: Job): Promise<BackupPlan> {
    return planBackup(this.#parts, {
      job,
      user: userOfJob(this.#parts.users, job),
      settings: job.body as BackupBody,
    });
  }

  async run(run: KindRun): Promise<RunOutcome> {
    const settings = settingsOf(run.job.body as BackupBody, run.scheduleId);
    const mode = settings.mode ?? "incremental";
    this.#active.add(run.runId);
    try {
      const before = await statesBefore(run);
      const { targets, entries } = await this.#targets(run, settings, before);
      reportCounts(run.work, entries, targets.length);
      const notBegun = await inParallel(
        targets,
        {
          concurrency: settings.concurrency ?? DEFAULT_CONCURRENCY,
          isOver: () => run.work.signal.aborted || this.#parts.isStopping(),
        },
        async (vm) => {
          const state = before.get(vm.id);
          entries.push(await this.#runOne(run, settings, { vm, state }));
          reportCounts(run.work, entries, targets.length);
        },
      );
      const more = notBegun === 0 ? {} : { notBegun };
      return this.#outcome(run, toRunBody(mode, entries, more));
    } catch (error) {
      return this.#outcome(
        run,
        toRunBody(mode, [], { error: toLoggedError(error) }),
      );
    } finally {
      this.#active.delete(run.runId);
    }
  }

  /** The VMs that remain to be backed up, and the entries of the others. */
  async #targets(
    { job, choice }: KindRun,
    settings: BackupBody,
    before: ReadonlyMap<string, VmRunState>,
  ): Promise<{ targets: SelectedVm[]; entries: VmLogEntry[] }> {
    const { catalog, clock } = this.#parts;
    const user = userOfJob(this.#parts.users, job);
    const { vms, excluded } = await selectVms(catalog, user, settings);
    const isChosen = ({ id }: SelectedVm) =>
      choice?.vms === undefined || choice.vms.includes(id);
    const selected = new Map(
      vms.filter(isChosen).map((vm) => [vm.id, vm] as const),
    );
    // A VM that was begun before the restart is completed, even if it is no longer selected.
    for (const [id, { entry }] of before)
      if (!selected.has(id))
        selected.set(id, { id, name: entry?.name ?? id, object: undefined });
    if (selected.size === 0 && excluded.length === 0)
      throw new XoError("NO_VM_MATCHES");
    const now = clock.now();
    const entries = excluded
      .filter(isChosen)
      .map(({ id, name, reason }): VmLogEntry => ({
        vm: id,
        name,
        reason,
        status: "skipped",
        start: now,
        end: now,
      }));
    const targets: SelectedVm[] = [];
    for (const vm of selected.values()) {
      const entry = before.get(vm.id)?.entry;
      if (entry === undefined) targets.push(vm);
      else entries.push(entry);
    }
    return { targets, entries };
  }

  async #runOne(
    run: KindRun,
    settings: BackupBody,
    {
      vm,
      state,
    }: { readonly vm: SelectedVm; readonly state: VmRunState | undefined },
  ): Promise<VmLogEntry> {
    const { clock, catalog } = this.#parts;
    const { window } = settings;
    const timezone = timezoneOf(this.#parts.store, run, settings);
    const start = clock.now();
    const demand = demandOf(catalog, vm.object, settings);
    let entry: VmLogEntry | undefined;
    try {
      await this.#capacity.run(demand, run.work, async () => {
        if (window !== undefined && state === undefined)
          if (!isWithin(window, clock.now(), timezone)) {
            const reason = `the window from ${window.from} to ${window.to} is over`;
            entry = skipped(vm, start, reason);
            return;
          }
        await run.work.part(`VM ${vm.name}`, async (part) => {
          // The progress is that of the transfer, not that of the snapshot before it.
          part.progress(0);
          entry = await this.#backUp(run, settings, { vm, state, part });
          // The part shows the failure.
          if (entry.status !== "success" && entry.error !== undefined)
            throw new XoError("STOPPED_MIDWAY", {
              what: `backup of ${vm.name}`,
              where: "see the log of the run",
              reason: (entry.error as { message?: string }).message ?? "",
            });
        });
      });
    } catch (error) {
      entry ??= {
        vm: vm.id,
        name: vm.name,
        status: "failure" as const,
        start,
        end: clock.now(),
        error: toLoggedError(error),
      };
    }
    return entry!;
  }

  async #backUp(
    run: KindRun,
    settings: BackupBody,
    {
      vm,
      state,
      part,
    }: {
      readonly vm: SelectedVm;
      readonly state: VmRunState | undefined;
      readonly part: TaskContext;
    },
  ): Promise<VmLogEntry> {
    const { clock, catalog } = this.#parts;
    const { job, runId, scheduleId, work } = run;
    const user = userOfJob(this.#parts.users, job);
    const late = new AbortController();
    const timer =
      settings.timeout === undefined
        ? undefined
        : clock.setTimeout(() => {
            late.abort();
          }, settings.timeout);
    try {
      const backup = new VmBackup(
        this.#parts,
        {
          job,
          runId,
          scheduleId,
          settings,
          timezone: timezoneOf(this.#parts.store, run, settings),
          isResumed: state !== undefined,
          pool: poolOf(catalog, vm),
          persist: (next) => work.persistStep(`${VM_STEP}${vm.id}`, next),
          checkRights: (object) => {
            checkRights(user, object);
          },
        },
        vm,
        { work: withSignal(part, late.signal), before: state },
      );
      return await backup.run();
    } finally {
      clock.clearTimeout(timer);
    }
  }

  #outcome({ job, work }: KindRun, body: BackupRunBody): RunOutcome {
    const status = statusOfRun(work, this.#parts.isStopping(), body);
    this.#parts.onEnd?.(job.id, body);
    return { status, body };
  }
}

/**
 * Reads the states that the previous process has persisted, by id of the VM, when its XAPI
 * tasks have ended.
 */
async function statesBefore({
  interrupted,
  work,
}: KindRun): Promise<ReadonlyMap<string, VmRunState>> {
  if (interrupted === undefined) return new Map();
  await interrupted.awaitOutcomes(undefined, work);
  return new Map(
    [...interrupted.steps].flatMap(([key, state]) =>
      key.startsWith(VM_STEP)
        ? [[key.slice(VM_STEP.length), state as VmRunState] as const]
        : [],
    ),
  );
}

/** @throws XoError FORBIDDEN */
function checkRights(
  user: AuthenticatedUser,
  { id, object }: PoolObject,
): void {
  if (user.isAdmin) return;
  for (const action of ["operate:snapshot", "administrate:export"] as const)
    if (!user.rights.may(action, "VM", object))
      throw new XoError("FORBIDDEN", {
        permission: action,
        object: { id, type: "VM" },
      });
}

function poolOf(
  catalog: Pick<Catalog, "get">,
  { object }: SelectedVm,
): { uuid: string; name: string } {
  const uuid = textOf(object, "$pool");
  const entry = catalog.get(uuid);
  const pool =
    entry === undefined
      ? {}
      : (JSON.parse(entry.json.toString()) as Record<string, unknown>);
  return { uuid, name: textOf(pool, "name_label") };
}

function skipped(vm: SelectedVm, start: number, reason: string): VmLogEntry {
  return {
    vm: vm.id,
    name: vm.name,
    status: "skipped",
    start,
    end: start,
    reason,
  };
}

function reportCounts(
  work: TaskContext,
  entries: readonly VmLogEntry[],
  targets: number,
): void {
  const count = (...statuses: VmLogEntry["status"][]) =>
    entries.filter(({ status }) => statuses.includes(status)).length;
  const [succeeded, failed] = [count("success"), count("failure", "aborted")];
  const total = targets + count("skipped");
  const waiting = Math.max(0, total - entries.length);
  work.reportCounts({ total, succeeded, failed, running: 0, waiting });
}
