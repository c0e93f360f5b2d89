import { XoError } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import { listDiskSnapshots } from "./vm-snapshots.js";
import { mapOf, read, refsOf, sizeOf, textOf } from "./xapi-objects.js";
import type { VmContents, VmDisk } from "./vm-records.js";

/** Storage drivers support at most 30 images in a chain; a snapshot adds one. */
const MAX_SNAPSHOTS = 27;
/** Free space that a snapshot on a thin SR needs, in bytes. */
const MIN_FREE = 256 * 2 ** 20;
/** SRs on which a snapshot occupies the whole size of the disk. */
const THICK = new Set(["lvm", "lvmoiscsi", "lvmohba", "lvmofcoe"]);

/**
 * Checks what would prevent a snapshot of a VM, before anything is changed.
 * @throws XoError BACKUP_REFUSED
 */
export async function checkVm(
  xapi: Xapi,
  { records, disks }: VmContents,
  {
    ignoreLongChains = false,
  }: { readonly ignoreLongChains?: boolean | undefined },
): Promise<void> {
  const vm = textOf(records.VM, "uuid");
  if (disks.length === 0 && Object.keys(records.VBDs).length > 0)
    // A VM without disks still has a configuration to back up.
    if (Object.keys(records.VDIs).length > 0)
      throw refused(vm, "all of its disks are excluded");
  const blocked = mapOf(records.VM, "blocked_operations")["snapshot"];
  if (blocked !== undefined)
    throw refused(vm, `its snapshots are blocked: ${blocked}`);
  if (!ignoreLongChains)
    for (const disk of disks) await checkChain(xapi, vm, disk);
  for (const sr of new Set(disks.map((disk) => disk.sr)))
    await checkSpace(xapi, vm, {
      sr,
      disks: disks.filter((disk) => disk.sr === sr),
    });
}

async function checkChain(xapi: Xapi, vm: string, disk: VmDisk): Promise<void> {
  const count = refsOf(disk.record, "snapshots").length;
  if (count <= MAX_SNAPSHOTS) return;
  const own = await listDiskSnapshots(xapi, disk.vdi);
  throw refused(
    vm,
    `disk ${disk.name} has ${count} snapshots (${own.length} of backups), and a chain of images has at most 30`,
  );
}

async function checkSpace(
  xapi: Xapi,
  vm: string,
  { sr, disks }: { readonly sr: string; readonly disks: readonly VmDisk[] },
): Promise<void> {
  const record = await read(xapi, "SR", sr);
  const size = sizeOf(record, "physical_size");
  // The driver does not report the size.
  if (size <= 0) return;
  const free = size - sizeOf(record, "physical_utilisation");
  const needed = THICK.has(textOf(record, "type"))
    ? disks.reduce((sum, disk) => sum + disk.size, 0)
    : MIN_FREE;
  if (free >= needed) return;
  throw refused(
    vm,
    `SR ${textOf(record, "name_label")} has ${toGiB(free)} GiB free, and a snapshot may need ${toGiB(needed)} GiB`,
  );
}

function toGiB(bytes: number): string {
  return (Math.max(0, bytes) / 2 ** 30).toFixed(1);
}

function refused(vm: string, reason: string): XoError {
  return new XoError("BACKUP_REFUSED", { vm, reason });
}
