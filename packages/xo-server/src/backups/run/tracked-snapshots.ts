import { XoError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { HandlerContext } from "../../operations/operation.js";
import type { TrackedSnapshots } from "../../vms/without-cbt.js";
import { readMarks, runOfName } from "./marks.js";
import { deleteDisk, readIfThere } from "./vm-snapshots.js";
import {
  mapOf,
  read,
  readAll,
  refsOf,
  textOf,
  type XapiRecord,
} from "./xapi-objects.js";

type Caller = Pick<HandlerContext, "check" | "call" | "task">;

/**
 * Finds the snapshots with changed block tracking of disks that are to move to other SRs. Those that backups have
 * taken are deleted by `vm.delete`, with the rights of the caller.
 * @throws XoError TRACKED_SNAPSHOT: a backup has not taken one, or the caller may not delete it
 */
export async function findTrackedSnapshots(
  xapi: Xapi,
  disks: readonly Ref[],
  caller: Caller,
): Promise<TrackedSnapshots> {
  const ofVms = new Map<Ref, Ref[]>();
  for (const disk of disks)
    for (const [ref, vdi] of await trackedSnapshotsOf(xapi, disk))
      for (const vm of await vmsOf(xapi, vdi))
        ofVms.set(vm, [...(ofVms.get(vm) ?? []), ref]);
  const vms = await readAll(xapi, "VM", [...ofVms.keys()]);
  for (const vm of vms.values()) assertDeletable(vm, caller);
  return {
    disks: new Set([...ofVms.values()].flat()),
    async delete() {
      for (const vm of vms.values()) await deleteOne(vm, caller);
    },
    async deleteTrackingData(disk) {
      for (const [ref, vdi] of await trackedSnapshotsOf(xapi, disk)) {
        const marks = readMarks(
          mapOf(vdi, "other_config"),
          textOf(vdi, "uuid"),
        );
        const hasData = textOf(vdi, "type") !== "cbt_metadata";
        if (marks !== undefined && !hasData) await deleteDisk(xapi, ref);
      }
    },
  };
}

async function trackedSnapshotsOf(
  xapi: Xapi,
  disk: Ref,
): Promise<ReadonlyMap<Ref, XapiRecord>> {
  const tracked = new Map<Ref, XapiRecord>();
  for (const ref of refsOf(await read(xapi, "VDI", disk), "snapshots")) {
    // It may have been deleted meanwhile.
    const vdi = await readIfThere(xapi, "VDI", ref);
    if (vdi?.["cbt_enabled"] === true) tracked.set(ref, vdi);
  }
  return tracked;
}

/** Snapshots of VMs that have a disk. A snapshot of a disk alone does not move. */
async function vmsOf(xapi: Xapi, vdi: XapiRecord): Promise<Ref[]> {
  const vbds = await readAll(xapi, "VBD", refsOf(vdi, "VBDs"));
  const vms = await readAll(
    xapi,
    "VM",
    [...vbds.values()].map((vbd) => textOf(vbd, "VM")),
  );
  return [...vms].flatMap(([ref, vm]) =>
    vm["is_a_snapshot"] === true ? [ref] : [],
  );
}

function assertDeletable(vm: XapiRecord, caller: Caller): void {
  const [uuid, name] = [textOf(vm, "uuid"), textOf(vm, "name_label")];
  const refuse = (reason: string) =>
    new XoError("TRACKED_SNAPSHOT", { snapshot: uuid, name, reason });
  const isOfBackup =
    readMarks(mapOf(vm, "other_config"), uuid) !== undefined ||
    runOfName(name) !== undefined;
  if (!isOfBackup)
    throw refuse("no backup has taken it: delete it, then repeat");
  try {
    caller.check("administrate:delete", "VM-snapshot", uuid);
  } catch {
    throw refuse(
      "a backup has taken it, and you do not have the right to delete it (administrate:delete)",
    );
  }
}

async function deleteOne(vm: XapiRecord, caller: Caller): Promise<void> {
  const [id, name] = [textOf(vm, "uuid"), textOf(vm, "name_label")];
  await caller.call("vm.delete", { id, forceBlockedOperation: true });
  caller.task.info(
    `snapshot ${name} is deleted: pools do not move disks with tracked snapshots. The next backup reads the disks in full`,
    { snapshot: id },
  );
}
