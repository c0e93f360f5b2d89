import type { Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { AbandonedTask } from "../../operations/operation.js";
import { addVm } from "../../vms/destroy-vm.js";
import { CREATED_FOR } from "../../vms/drives/new-vbds.js";
import { Rollback } from "../../vms/rollback.js";
import { dropDisk, exists } from "./restore-disks.js";
import { RestoreJournal } from "./restore-journal.js";
import type { DiskRequest } from "./run-restore-disk.js";
import type { OverRequest } from "./run-restore-over.js";
import type { RestoreState } from "./run-restore.js";
import { untilSettled } from "./until-settled.js";

/**
 * Deletes the incomplete VM of a restore that is not resumed, with its disks.
 * @throws XapiError; XoError NO_SUCH_OBJECT, NOT_CONNECTED
 */
export async function abandonRestore(
  { request, token }: RestoreState,
  { objects, task, interrupted }: AbandonedTask,
): Promise<void> {
  const { xapi } = objects.get(request.sr, "SR");
  const disks = diskNames(interrupted.steps);
  await untilSettled({ xapi, disks, previous: interrupted }, task);
  const journal = new RestoreJournal(task, interrupted.steps);
  const named = await xapi.call("VM.get_by_name_label", [token]);
  const vm = journal.vm ?? (named as readonly Ref[])[0];
  if (vm === undefined) return;
  if (await exists(xapi, "VM", vm)) {
    const name = await xapi.call("VM.get_name_label", [vm]);
    if (name !== token) {
      task.warn(`the VM ${String(name)} had been restored, and is kept`);
      return;
    }
    const rollback = new Rollback();
    addVm(rollback, vm);
    reportLeft(task, await rollback.run(xapi));
  }
  for (const name of disks) await dropDisk(xapi, journal.disk(name)!.vdi);
  await dropCreatedFor(xapi, vm);
}

/** Deletes the incomplete disk of a restore that is not resumed. @throws as abandonRestore */
export async function abandonRestoreDisk(
  { sr, disk, vdi }: DiskRequest,
  { objects, task, interrupted }: AbandonedTask,
): Promise<void> {
  const { xapi } = objects.get(sr, "SR");
  const left = { xapi, disks: [disk], previous: interrupted };
  await untilSettled(left, task);
  if (vdi !== undefined) await dropDisk(xapi, vdi);
  const { wholeTaskId: mark = "" } = task;
  if (mark !== "") await dropCreatedFor(xapi, mark);
}

/**
 * Deletes the new disks of a restore over a VM that is not resumed. Disks of the VM that have been
 * replaced stay as they are, and are reported.
 * @throws as abandonRestore
 */
export async function abandonRestoreOver(
  { vm }: OverRequest,
  { objects, task, interrupted }: AbandonedTask,
): Promise<void> {
  const { xapi } = objects.get(vm, "VM");
  const { steps } = interrupted;
  const disks = diskNames(steps);
  await untilSettled({ xapi, disks, previous: interrupted }, task);
  const journal = new RestoreJournal(task, steps);
  const replaced = disks.filter((name) => journal.replaced(name) !== undefined);
  if (replaced.length > 0)
    task.warn(
      `disks of the VM may have been replaced already: ${replaced.join(", ")}; restore it again`,
    );
  else for (const name of disks) await dropDisk(xapi, journal.disk(name)!.vdi);
}

/** Names of the disks that were begun. */
function diskNames(steps: ReadonlyMap<string, unknown>): readonly string[] {
  const prefix = "disk ";
  return [...steps.keys()]
    .filter((key) => key.startsWith(prefix))
    .map((key) => key.slice(prefix.length));
}

/** Deletes disks whose creation was under way when the server was killed. They are not attached. */
async function dropCreatedFor(xapi: Xapi, mark: string): Promise<void> {
  const all = (await xapi.call("VDI.get_all_records")) as Readonly<
    Record<
      Ref,
      {
        readonly other_config: Readonly<Record<string, string>>;
        readonly VBDs: readonly Ref[];
      }
    >
  >;
  for (const [vdi, { other_config, VBDs }] of Object.entries(all))
    if (other_config[CREATED_FOR] === mark && VBDs.length === 0)
      await dropDisk(xapi, vdi);
}

function reportLeft(
  task: Pick<AbandonedTask["task"], "warn">,
  left: readonly string[],
): void {
  if (left.length > 0) task.warn(`not deleted: ${left.join(", ")}`);
}
