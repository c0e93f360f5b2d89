import type { Archives } from "../archives/archives.js";
import type { InterruptedTask } from "../../tasks/interrupted-task.js";
import type { Ref } from "@xo-server/model";
import type { Store } from "@xo-server/store";
import type { WallClock } from "@xo-server/kit";
import { creationMark, type Xapi } from "@xo-server/xen-api";
import type { TaskContext } from "../../tasks/task-context.js";
import { parseArchiveId } from "../archives/archive.js";
import { RESTORE_TEST } from "../jobs/vm-selection.js";
import type { Workers } from "../repositories/workers.js";
import { RestoreJournal } from "../restore/restore-journal.js";
import type { RestoreRequest } from "../restore/restore-plan.js";
import { isStopping } from "../restore/restore-vm.js";
import { runRestore, type RestoreContext } from "../restore/run-restore.js";
import { awaitGuest, prepareGuest } from "./await-guest.js";
import { removeTest } from "./remove-test.js";
import type { RestoreTestReport, RestoreTestState } from "./restore-test.js";
import { takeScreenshot } from "./take-screenshot.js";
import { untilSettled } from "../restore/until-settled.js";

export interface RestoreTestContext extends RestoreContext {
  readonly clock: WallClock;
  readonly workers: Pick<Workers, "run">;
  readonly store: Pick<Store, "restoreScreenshots">;
}

type Outcome = Omit<RestoreTestReport, "durationMs" | "hasScreenshot"> & {
  /** PNG image, base64. */
  readonly png?: string | undefined;
};

/** Maximum number of results kept per repository. */
const MAX_RESULTS = 200;

/**
 * Restores a VM without interfaces, or into a new network without a connection to
 * others; starts it, waits until its guest reports, takes a screenshot of its
 * console, and deletes it. The result is stored with the repository.
 * @throws XapiError; XoError NO_SUCH_OBJECT, FORBIDDEN, ABORTED: the backup was not
 * tested
 */
export async function runRestoreTest(
  state: RestoreTestState,
  context: RestoreTestContext,
  task: TaskContext,
): Promise<RestoreTestReport> {
  const { spec, token } = state;
  const { clock } = context;
  await task.persistState(state);
  const cleanupXapi = context.objects.untracked.get(spec.sr, "SR").xapi;
  const startedAt = clock.now();
  let outcome: Outcome;
  let isLeft = false;
  try {
    outcome = await restoreAndStart(state, context, task);
  } catch (error) {
    // When the server is started again, it deletes the created objects.
    isLeft = isStopping(error);
    if (task.signal.aborted || !isOfBackup(error)) throw error;
    outcome = { success: false, error: (error as Error).message };
  } finally {
    if (!isLeft) await clean(cleanupXapi, token, task);
  }
  return keepReport(state, context, { outcome, startedAt });
}

/** Deletes what an interrupted test has created, after a restart of the server. @throws XapiError; XoError */
export async function removeInterrupted(
  { spec, token }: RestoreTestState,
  {
    objects,
    archives,
  }: Pick<RestoreTestContext, "objects"> & {
    readonly archives: Pick<Archives, "find">;
  },
  task: TaskContext,
  interrupted: InterruptedTask,
): Promise<void> {
  const { xapi } = objects.untracked.get(spec.sr, "SR");
  const archive = await archives.find(spec.id);
  const disks = archive?.disks.map(({ name }) => name) ?? [];
  await untilSettled({ xapi, disks, previous: interrupted }, task);
  await removeTest(xapi, {
    token,
    vm: new RestoreJournal(task, interrupted.steps).vm,
    disks:
      archive?.disks.map(({ name, properties }) =>
        labelOf(name, properties["name_label"]),
      ) ?? [],
  });
}

async function restoreAndStart(
  { spec, token }: RestoreTestState,
  context: RestoreTestContext,
  task: TaskContext,
): Promise<Outcome> {
  const { clock, workers } = context;
  const { xapi } = context.objects.forTask(task).get(spec.sr, "SR");
  const mark = task.wholeTaskId ?? "";
  const network =
    spec.network === "none" ? null : await createNetwork(xapi, token, mark);
  const request: RestoreRequest = {
    id: spec.id,
    sr: spec.sr,
    srs: {},
    networks: {},
    name: token,
    newMacs: true,
    start: false,
    differential: false,
  };
  const isolated = { ...context, network, marks: { [RESTORE_TEST]: mark } };
  const { ref: vm } = await runRestore({ request, token }, isolated, task);
  const method = await prepareGuest(xapi, vm);
  await xapi.callAsync("VM.start", [vm, false, false]);
  const { signal } = task;
  const timeout = spec.bootTimeout;
  const answer = await awaitGuest(xapi, vm, method, { clock, signal, timeout });
  try {
    const screenshot = await takeScreenshot(xapi, vm, { workers, signal });
    return { ...answer, png: screenshot?.png };
  } catch (error) {
    if (signal.aborted || isStopping(error)) throw error;
    // A missing screenshot does not make the test fail.
    task.warn("no screenshot of the console was taken", {
      error: (error as Error).message,
    });
    return answer;
  }
}

async function createNetwork(
  xapi: Xapi,
  token: string,
  mark: string,
): Promise<Ref> {
  const record = {
    name_label: token,
    name_description: "Restore test: not connected to other networks",
    MTU: "1500",
    other_config: {
      automatic: "false",
      [RESTORE_TEST]: mark,
      ...creationMark(),
    },
  };
  return (await xapi.call("network.create", [record])) as Ref;
}

/**
 * Deletes everything that the test has created. Objects that cannot be deleted now
 * are deleted by the next search for leftovers.
 */
async function clean(
  xapi: Xapi,
  token: string,
  task: TaskContext,
): Promise<void> {
  try {
    await removeTest(xapi, { token });
  } catch (error) {
    task.warn("the VM of the restore test was not deleted yet", {
      error: (error as Error).message,
    });
  }
}

async function keepReport(
  { spec }: RestoreTestState,
  { clock, repositories, store }: RestoreTestContext,
  {
    outcome: { png, ...outcome },
    startedAt,
  }: { readonly outcome: Outcome; readonly startedAt: number },
): Promise<RestoreTestReport> {
  const time = clock.now();
  const report: RestoreTestReport = {
    ...outcome,
    durationMs: time - startedAt,
    ...(png === undefined ? {} : { hasScreenshot: true }),
  };
  const { repository, backup } = parseArchiveId(spec.id)!;
  if (png !== undefined)
    await store.restoreScreenshots.put({ id: spec.id, repository, time, png });
  await repositories.changeState(repository, (known) => ({
    ...known,
    restoreTests: [
      ...(known.restoreTests ?? []).filter((one) => one.backup !== backup),
      { ...report, backup, time },
    ].slice(-MAX_RESULTS),
  }));
  return report;
}

/** Whether the error is about the backup or the VM, as opposed to the call. */
function isOfBackup(error: unknown): boolean {
  const { code = "" } = error as { readonly code?: string };
  return ![
    "NO_SUCH_OBJECT",
    "FORBIDDEN",
    "CLOSED",
    "INVALID_PARAMETERS",
  ].includes(code);
}

function labelOf(name: string, label: unknown): string {
  return typeof label === "string" ? label : name;
}
