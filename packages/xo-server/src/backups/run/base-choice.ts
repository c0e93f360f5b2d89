import type { Xapi } from "@xo-server/xen-api";
import type { ArchiveAccess } from "./repository-access.js";
import type { VmDisk } from "./vm-records.js";
import { baseProblem } from "./disk-source.js";
import { listDiskSnapshots, type SnapshotDisk } from "./vm-snapshots.js";

/** The backup that an incremental backup in one repository is based on. */
export interface BaseChoice {
  /** Id of the backup; absent: everything is read. */
  readonly backup?: string;
  /** Snapshots by the UUID of the disk. */
  readonly disks: ReadonlyMap<string, SnapshotDisk>;
  /** Why a disk has no base, by the UUID of the disk. */
  readonly problems: ReadonlyMap<string, string>;
  /** Number of incremental backups since the last full one. */
  readonly incrementals: number;
}

interface BaseRequest {
  readonly job: string;
  readonly run: string;
  readonly vm: string;
  readonly repository: string;
  readonly disks: readonly VmDisk[];
  /** Whether all disks are read, whatever is stored. */
  readonly isFull: boolean;
  /** One of that many backups is full; undefined: no limit. */
  readonly fullInterval: number | undefined;
}

/**
 * Chooses the last backup that this job has stored in the repository and whose snapshots exist.
 * @throws XapiError
 */
export async function chooseBase(
  xapi: Xapi,
  archives: Pick<ArchiveAccess, "ofVm">,
  request: BaseRequest,
): Promise<BaseChoice> {
  const { job, run, vm, repository, disks, isFull, fullInterval } = request;
  if (isFull) return without(disks, "the job makes full backups only");
  const stored = await archives.ofVm(vm);
  const orders = new Map(
    stored
      .filter((one) => one.repository === repository)
      .map(({ backup, order }) => [backup, order]),
  );
  const orderOf = ({ marks }: SnapshotDisk): number =>
    orders.get(marks?.backups.get(repository) ?? "") ?? 0;
  const candidates = new Map<string, SnapshotDisk>();
  for (const disk of disks) {
    const snapshots = await listDiskSnapshots(xapi, disk.vdi);
    const newest = snapshots
      .filter(({ marks }) => marks?.job === job && marks.run !== run)
      .filter((one) => orderOf(one) > 0)
      .toSorted((a, b) => orderOf(b) - orderOf(a))[0];
    if (newest !== undefined) candidates.set(disk.uuid, newest);
  }
  const newest = [...candidates.values()].toSorted(
    (a, b) => orderOf(b) - orderOf(a),
  )[0];
  const backup = newest?.marks?.backups.get(repository);
  if (backup === undefined)
    return without(disks, "no earlier backup with its snapshot exists");
  const incrementals = newest?.marks?.incrementals ?? 0;
  if (fullInterval !== undefined && incrementals + 1 >= fullInterval)
    return without(disks, `one of ${fullInterval} backups is a full one`);
  return {
    backup,
    incrementals,
    ...split({ repository, disks }, candidates, backup),
  };
}

function split(
  { repository, disks }: Pick<BaseRequest, "repository" | "disks">,
  candidates: ReadonlyMap<string, SnapshotDisk>,
  backup: string,
): Pick<BaseChoice, "disks" | "problems"> {
  const bases = new Map<string, SnapshotDisk>();
  const problems = new Map<string, string>();
  for (const disk of disks) {
    const base = candidates.get(disk.uuid);
    const isSame = base?.marks?.backups.get(repository) === backup;
    if (base === undefined || !isSame) {
      problems.set(disk.uuid, "the disk is not in the last backup");
      continue;
    }
    const problem = baseProblem(disk, base);
    if (problem === undefined) bases.set(disk.uuid, base);
    else problems.set(disk.uuid, problem);
  }
  return { disks: bases, problems };
}

function without(disks: readonly VmDisk[], reason: string): BaseChoice {
  return {
    disks: new Map(),
    problems: new Map(disks.map(({ uuid }) => [uuid, reason])),
    incrementals: 0,
  };
}
