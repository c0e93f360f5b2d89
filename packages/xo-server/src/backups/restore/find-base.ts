import type { Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { RestorePlanDisk } from "./restore-plan.js";
import { readMarks } from "../run/marks.js";
import type { DiskBase } from "./restore-disks.js";

interface VdiRecord {
  readonly uuid: string;
  readonly type: string;
  readonly SR: Ref;
  readonly virtual_size: number | string;
  readonly is_a_snapshot: boolean;
  readonly snapshots: readonly Ref[];
  readonly other_config: Readonly<Record<string, string>>;
}

/**
 * Finds a snapshot, on the SR that the disk is restored to, of the disk that was
 * backed up, whose content is a backup in the same repository.
 * @param known whether a backup (its id in the repository) still exists
 */
export async function findBase(
  xapi: Xapi,
  disk: RestorePlanDisk,
  where: {
    readonly repository: string;
    readonly sr: Ref;
    readonly known: (backup: string) => boolean;
  },
): Promise<DiskBase | undefined> {
  const active = await byUuid(xapi, disk.name);
  if (active === undefined) return undefined;
  const { snapshots } = await readVdi(xapi, active);
  for (const vdi of snapshots) {
    const record = await readVdi(xapi, vdi);
    // After data_destroy only the changed block tracking data remains.
    const isUsable =
      record.type !== "cbt_metadata" &&
      record.SR === where.sr &&
      Number(record.virtual_size) === disk.size;
    if (!isUsable) continue;
    const marks = readMarks(record.other_config, record.uuid);
    const backup = marks?.backups.get(where.repository);
    if (backup !== undefined && where.known(backup)) return { vdi, backup };
  }
  return undefined;
}

async function byUuid(xapi: Xapi, uuid: string): Promise<Ref | undefined> {
  try {
    return (await xapi.call("VDI.get_by_uuid", [uuid])) as Ref;
  } catch {
    // UUID_INVALID: the disk no longer exists, or is in another pool.
    return undefined;
  }
}

async function readVdi(xapi: Xapi, ref: Ref): Promise<VdiRecord> {
  return (await xapi.call("VDI.get_record", [ref])) as VdiRecord;
}
