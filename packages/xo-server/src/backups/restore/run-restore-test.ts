import { XoError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { WallClock } from "@xo-server/kit";
import { pause } from "../../tasks/pause.js";
import type { TaskContext } from "../../tasks/task-context.js";
import { destroyVm } from "../../vms/destroy-vm.js";
import { isGone } from "../../vms/rollback.js";
import { parseArchiveId } from "../archives/archive.js";
import { RestoreJournal } from "./restore-journal.js";
import {
  runRestore,
  type RestoreContext,
  type RestoreState,
} from "./run-restore.js";

export interface RestoreTestReport {
  readonly success: boolean;
  /** Until the guest tools reported, in milliseconds; absent: they did not. */
  readonly bootMs?: number;
  /** The whole test, in milliseconds. */
  readonly durationMs: number;
  readonly error?: string;
}

export interface RestoreTestContext extends RestoreContext {
  readonly clock: WallClock;
}

/** Time in which the guest tools must report, in ms. */
const BOOT_MS = 600_000;
const LOOK_MS = 2_000;
const DELETE_ALL = {
  deleteDisks: true,
  bypassBlock: true,
  evenDefaultTemplate: true,
} as const;

/**
 * Restores a VM into a network of its own without a connection to others, starts it, waits
 * for its guest tools, and deletes it. The result is kept with the repository.
 * @throws XapiError; XoError NO_SUCH_OBJECT, FORBIDDEN, ABORTED: the test could not be made
 */
export async function runRestoreTest(
  state: RestoreState,
  context: RestoreTestContext,
  task: TaskContext,
): Promise<RestoreTestReport> {
  const { request } = state;
  const { clock, repositories } = context;
  await task.persistState(state);
  const objects = context.objects.forTask(task);
  const { xapi } = objects.get(request.sr, "SR");
  const cleaner = objects.untracked.get(request.sr, "SR").xapi;
  const startedAt = clock.now();
  const network = await createNetwork(xapi, state.token);
  let vm: Ref | undefined;
  let report: Omit<RestoreTestReport, "durationMs">;
  try {
    const isolated = { ...context, network };
    ({ ref: vm } = await runRestore(state, isolated, task));
    report = await boot(xapi, vm, { clock, task });
  } catch (error) {
    if (task.signal.aborted || !isOfBackup(error)) throw error;
    report = { success: false, error: (error as Error).message };
  } finally {
    if (vm !== undefined) await removeVm(cleaner, vm);
    await removeNetwork(cleaner, network);
  }
  const endedAt = clock.now();
  const result = { ...report, durationMs: endedAt - startedAt };
  const { repository, backup } = parseArchiveId(request.id)!;
  await repositories.changeState(repository, (known) => ({
    ...known,
    restoreTests: [
      ...(known.restoreTests ?? []).filter((one) => one.backup !== backup),
      { ...result, backup, time: endedAt },
    ].slice(-MAX_RESULTS),
  }));
  return result;
}

/** Results that are kept for each repository. */
const MAX_RESULTS = 200;

/** After a restart of the server: what the test has created is deleted. @throws XoError INTERRUPTED */
export async function endRestoreTest(
  { request, token }: RestoreState,
  context: Pick<RestoreContext, "objects">,
  task: TaskContext,
  steps: ReadonlyMap<string, unknown>,
): Promise<never> {
  const { xapi } = context.objects.untracked.get(request.sr, "SR");
  const known = new RestoreJournal(task, steps).vm;
  const named = (await xapi.call("VM.get_by_name_label", [token])) as Ref[];
  for (const vm of new Set([...(known === undefined ? [] : [known]), ...named]))
    await removeVm(xapi, vm);
  const networks = await xapi.call("network.get_by_name_label", [token]);
  for (const network of networks as readonly Ref[])
    await removeNetwork(xapi, network);
  throw new XoError("INTERRUPTED", {
    reason: "the VM of the restore test was deleted",
  });
}

async function createNetwork(xapi: Xapi, token: string): Promise<Ref> {
  const record = {
    name_label: token,
    name_description: "Restore test: not connected to other networks",
    MTU: "1500",
    other_config: { automatic: "false" },
  };
  return (await xapi.call("network.create", [record])) as Ref;
}

async function boot(
  xapi: Xapi,
  vm: Ref,
  { clock, task }: { readonly clock: WallClock; readonly task: TaskContext },
): Promise<Omit<RestoreTestReport, "durationMs">> {
  const startedAt = clock.now();
  await xapi.callAsync("VM.start", [vm, false, false]);
  while (clock.now() - startedAt < BOOT_MS) {
    task.signal.throwIfAborted();
    if (await hasGuestTools(xapi, vm))
      return { success: true, bootMs: clock.now() - startedAt };
    await pause(clock, LOOK_MS, task.signal);
  }
  return {
    success: false,
    error: `the guest tools did not report within ${BOOT_MS / 60_000} minutes`,
  };
}

/** A VM has metrics of the guest from the first report of its tools on. */
async function hasGuestTools(xapi: Xapi, vm: Ref): Promise<boolean> {
  const ref = (await xapi.call("VM.get_guest_metrics", [vm])) as Ref;
  if (ref === "" || ref === "OpaqueRef:NULL") return false;
  try {
    const isDetected = await xapi.call(
      "VM_guest_metrics.get_PV_drivers_detected",
      [ref],
    );
    return isDetected === true;
  } catch (error) {
    // Replaced meanwhile by those of a later report.
    if (isGone(error)) return false;
    throw error;
  }
}

/** Whether the error says something of the backup or the VM, rather than of the call. */
function isOfBackup(error: unknown): boolean {
  const { code = "" } = error as { readonly code?: string };
  return ![
    "NO_SUCH_OBJECT",
    "FORBIDDEN",
    "CLOSED",
    "INVALID_PARAMETERS",
  ].includes(code);
}

async function removeVm(xapi: Xapi, vm: Ref): Promise<void> {
  try {
    await destroyVm(xapi, vm, DELETE_ALL);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

async function removeNetwork(xapi: Xapi, network: Ref): Promise<void> {
  try {
    await xapi.call("network.destroy", [network]);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}
