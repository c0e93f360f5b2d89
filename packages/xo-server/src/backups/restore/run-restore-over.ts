import type { BackupDescription } from "@xo-server/backup";
import { XoError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { TaskContext } from "../../tasks/task-context.js";
import { parseArchiveId } from "../archives/archive.js";
import { findBase } from "./find-base.js";
import { createDiskUploader } from "./disk-uploader.js";
import { RestoreJournal } from "./restore-journal.js";
import {
  restoreOver,
  type AttachedDisk,
  type OverParts,
} from "./restore-over.js";
import { planVm, type VmPlan } from "./restore-plan.js";
import { RestoreProgress } from "./restore-progress.js";
import type { RestoreContext } from "./run-restore.js";

/** Parameters of the restore, which are also persisted. */
export interface OverRequest {
  /** `<repository>/<backup>` */
  readonly id: string;
  /** Id of the VM whose disks are replaced. */
  readonly vm: string;
  /** Names of disks in the backup; absent: all. */
  readonly disks?: readonly string[] | undefined;
}

interface OverContext extends RestoreContext {
  /**
   * Runs a restore within the resource set of the VM. Absent: resource sets do not
   * limit it.
   * @param bytes by which the disks of the VM grow
   */
  readonly grow?: (
    vm: string,
    bytes: number,
    run: () => Promise<void>,
  ) => Promise<void>;
}

/**
 * Restores a backup into an existing, halted VM. If a snapshot of a disk is a known
 * backup, only the differences are written.
 * @param steps that the previous run of the server has persisted
 * @throws XapiError; XoError NO_SUCH_OBJECT, FORBIDDEN, VM_BAD_POWER_STATE,
 * BACKUP_*, ABORTED
 */
export async function runRestoreOver(
  request: OverRequest,
  context: OverContext,
  task: TaskContext,
  steps?: ReadonlyMap<string, unknown>,
): Promise<void> {
  const { repositories, archives, check, now } = context;
  await task.persistState(request);
  const objects = context.objects.forTask(task);
  const { xapi, ref: vm } = objects.get(request.vm, "VM");
  const cleanupXapi = objects.untracked.get(request.vm, "VM").xapi;
  check("operate:revert", "VM", request.vm);
  await assertHalted(xapi, vm, request.vm);
  const attached = await attachedDisks(xapi, vm);
  for (const { sr } of attached) {
    const id = objects.idOf(sr);
    if (id !== undefined) check("administrate:create-vdi", "SR", id);
  }
  const { repository, backup } = parseArchiveId(request.id)!;
  const description = await repositories.run<BackupDescription>(
    repository,
    { type: "describe", backup },
    { signal: task.signal },
  );
  const plan = planVm(description, request);
  const defaultSr = attached[0]?.sr;
  if (defaultSr === undefined)
    throw new XoError("INVALID_PARAMETERS", {
      reason: "vm: it has no disk; restore a new VM instead",
    });
  const known = new Set(
    (await archives.ofVm(plan.uuid))
      .filter((one) => one.repository === repository)
      .map((one) => one.backup),
  );
  const total = plan.disks.reduce((sum, { size }) => sum + size, 0);
  const progress = new RestoreProgress(task, total, now);
  const parts: OverParts = {
    xapi,
    cleanupXapi,
    vm,
    plan,
    attached,
    defaultSr,
    task,
    journal: new RestoreJournal(task, steps),
    baseOf: (disk) =>
      findBase(xapi, disk, {
        repository,
        sr:
          attached.find((one) => one.userdevice === disk.userdevice)?.sr ??
          defaultSr,
        known: (one) => known.has(one),
      }),
    upload: createDiskUploader({
      xapi,
      repositories,
      repository,
      backup,
      task,
      progress,
    }),
  };
  const run = () => restoreOver(parts);
  await (context.grow === undefined
    ? run()
    : context.grow(request.vm, growthOf(plan, attached), run));
}

/** Bytes by which the disks of a VM grow. Disks that are not in the backup are kept. */
function growthOf(
  { disks }: Pick<VmPlan, "disks">,
  attached: readonly AttachedDisk[],
): number {
  const sizes = new Map(attached.map((one) => [one.userdevice, one.size]));
  return disks.reduce(
    (sum, { size, userdevice }) => sum + size - (sizes.get(userdevice) ?? 0),
    0,
  );
}

async function assertHalted(xapi: Xapi, vm: Ref, id: string): Promise<void> {
  const state = (await xapi.call("VM.get_power_state", [vm])) as string;
  if (state === "Halted") return;
  throw new XoError("VM_BAD_POWER_STATE", {
    objectId: id,
    actual: state.toLowerCase(),
    expected: "halted",
  });
}

async function attachedDisks(xapi: Xapi, vm: Ref): Promise<AttachedDisk[]> {
  const vbds = (await xapi.call("VM.get_VBDs", [vm])) as readonly Ref[];
  const disks: AttachedDisk[] = [];
  for (const vbd of vbds) {
    const { type, VDI, userdevice } = (await xapi.call("VBD.get_record", [
      vbd,
    ])) as { type: string; VDI: Ref; userdevice: string };
    if (type !== "Disk") continue;
    const { SR, virtual_size } = (await xapi.call("VDI.get_record", [VDI])) as {
      readonly SR: Ref;
      readonly virtual_size: string;
    };
    const size = Number(virtual_size);
    disks.push({ vbd, vdi: VDI, sr: SR, userdevice, size });
  }
  return disks;
}
