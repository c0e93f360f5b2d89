import type { Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { Marks } from "./marks.js";
import type { StoredBackup } from "./repository-access.js";
import { read, readAll, refsOf, textOf } from "./xapi-objects.js";
import {
  deleteDisk,
  deleteSnapshot,
  destroyDiskData,
  destroySnapshotData,
  listDiskSnapshots,
  listSnapshots,
  readSnapshotDisks,
  type BackupSnapshot,
  type SnapshotDisk,
} from "./vm-snapshots.js";

interface SettleSnapshotsOptions {
  readonly job: string;
  /** The run that has just backed up the VM. */
  readonly run: string;
  /** Repositories whose next incremental backup needs a snapshot; empty: none does. */
  readonly repositories: readonly string[];
  /** Backups of the VM, of which the repository knows the order. */
  readonly stored: readonly Pick<StoredBackup, "id" | "order">[];
  /** Whether the data of the snapshot is destroyed if changed block tracking does not need it. */
  readonly purges: boolean;
  readonly warn: (text: string) => void;
}

/**
 * Deletes the snapshots of a job that no incremental backup needs: of each
 * repository only the newest is the base of the next one.
 * @throws XapiError, XoError
 */
export async function settleSnapshots(
  xapi: Xapi,
  vm: Ref,
  options: SettleSnapshotsOptions,
): Promise<void> {
  const { job, run, purges, warn } = options;
  const own = (await listSnapshots(xapi, vm)).filter(
    (one) => one.run === run || one.marks?.job === job,
  );
  const disks = (await allDiskSnapshots(xapi, vm)).filter(
    ({ marks }) => marks?.job === job,
  );
  const runs = neededRuns([...own, ...disks], options);
  // A run may have taken another one after it had stored its backup in some repositories only.
  const isNeeded = ({ marks }: { readonly marks?: Marks }) =>
    marks !== undefined && marks.backups.size > 0 && runs.has(marks.run);
  for (const snapshot of own)
    if (!isNeeded(snapshot)) await deleteSnapshot(xapi, snapshot.ref);
    else if (purges && snapshot.run === run)
      await purge(xapi, snapshot.ref, warn);
  const attached = await disksOfSnapshots(xapi, vm);
  for (const disk of disks)
    if (attached.has(disk.ref)) continue;
    else if (!isNeeded(disk)) await deleteDisk(xapi, disk.ref);
    // The server was killed after it had deleted their snapshot.
    else if (purges && disk.marks?.run === run)
      await destroyDiskData(xapi, disk);
}

async function purge(
  xapi: Xapi,
  snapshot: Ref,
  warn: (text: string) => void,
): Promise<void> {
  const disks = await readSnapshotDisks(xapi, snapshot);
  const untracked = disks.find(({ record }) => record["cbt_enabled"] !== true);
  if (untracked === undefined) await destroySnapshotData(xapi, snapshot);
  else
    warn(
      `the data of the snapshot is kept: changed block tracking is not enabled on disk ${textOf(untracked.record, "name_label")}`,
    );
}

/**
 * Runs whose snapshots are the newest with a backup in one of the repositories: that of
 * the current run, else by the order of the repository, and by time only where
 * that does not know them.
 */
export function neededRuns(
  snapshots: readonly Pick<BackupSnapshot | SnapshotDisk, "marks">[],
  {
    run,
    repositories,
    stored,
  }: Pick<SettleSnapshotsOptions, "run" | "repositories" | "stored">,
): ReadonlySet<string> {
  const orders = new Map(stored.map(({ id, order }) => [id, order]));
  const needed = new Set<string>();
  for (const repository of repositories) {
    const orderOf = (marks: Marks): number =>
      marks.run === run
        ? Infinity
        : (orders.get(`${repository}/${marks.backups.get(repository)}`) ?? 0);
    const newest = snapshots
      .flatMap(({ marks }) => (marks?.backups.has(repository) ? [marks] : []))
      .toSorted(
        (a, b) => compare(orderOf(b), orderOf(a)) || b.time - a.time,
      )[0];
    if (newest !== undefined) needed.add(newest.run);
  }
  return needed;
}

/** Subtraction does not compare infinities. */
function compare(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

async function allDiskSnapshots(xapi: Xapi, vm: Ref): Promise<SnapshotDisk[]> {
  const record = await read(xapi, "VM", vm);
  const vbds = await readAll(xapi, "VBD", refsOf(record, "VBDs"));
  const vdis = new Set(
    [...vbds.values()]
      .filter((vbd) => vbd["type"] !== "CD" && vbd["empty"] !== true)
      .map((vbd) => textOf(vbd, "VDI")),
  );
  const found: SnapshotDisk[] = [];
  for (const vdi of vdis) found.push(...(await listDiskSnapshots(xapi, vdi)));
  return found;
}

/** Disks that a snapshot of the VM still has: they are deleted with it. */
async function disksOfSnapshots(
  xapi: Xapi,
  vm: Ref,
): Promise<ReadonlySet<Ref>> {
  const attached = new Set<Ref>();
  for (const { ref } of await listSnapshots(xapi, vm))
    for (const disk of await readSnapshotDisks(xapi, ref))
      attached.add(disk.ref);
  return attached;
}
