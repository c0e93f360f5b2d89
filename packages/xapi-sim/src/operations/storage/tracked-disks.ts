import type { Database } from "../../database.js";
import { flag, refs, text } from "../../records/fields.js";
import { XapiFailure } from "../../xapi-failure.js";

/**
 * A VM is not migrated with its disks while changed blocks of one of them are tracked, whether or not this
 * disk moves [xapi_vm_migrate.ml assert_can_migrate].
 * @throws XapiFailure VDI_CBT_ENABLED
 */
export function assertNoTrackedDisk(db: Database, vm: string): void {
  for (const vbd of refs(db.get("VM", vm), "VBDs")) {
    const record = db.get("VBD", vbd);
    const vdi = db.find("VDI", text(record, "VDI"));
    if (text(record, "type") !== "CD" && vdi !== undefined)
      assertUntracked(db, text(record, "VDI"));
  }
}

/**
 * Of disks that move to another SR, and of disks of snapshots, which go with them: XAPI checks these last
 * [xapi_vm_migrate.ml assert_no_cbt_enabled_vdi_migrated].
 * @throws XapiFailure VDI_CBT_ENABLED
 */
export function assertNoTrackedSnapshot(
  db: Database,
  moving: Iterable<string>,
): void {
  for (const vdi of moving) {
    assertUntracked(db, vdi);
    for (const snapshot of disksOfSnapshots(db, vdi))
      assertUntracked(db, snapshot);
  }
}

/** Snapshots of a disk that snapshots of VMs have: those without a VM do not move. */
export function disksOfSnapshots(db: Database, vdi: string): readonly string[] {
  return refs(db.get("VDI", vdi), "snapshots").filter(
    (ref) => refs(db.get("VDI", ref), "VBDs").length > 0,
  );
}

function assertUntracked(db: Database, vdi: string): void {
  if (flag(db.get("VDI", vdi), "cbt_enabled"))
    throw new XapiFailure("VDI_CBT_ENABLED", [vdi]);
}
