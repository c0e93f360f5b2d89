import type { Catalog } from "@xo-server/inventory";
import type { Job } from "@xo-server/store";
import type { AuthenticatedUser } from "../../auth/users/authenticated-user.js";
import type { BackupBody } from "../../jobs/job-body.js";
import type { PoolObjects } from "../../objects/pool-objects.js";
import { snapshotModeOf } from "../jobs/settings.js";
import { selectVms, type SelectedVm } from "../jobs/vm-selection.js";
import type { SkippedDisk } from "../report/backup-log.js";
import { chooseBase } from "./base-choice.js";
import type { ArchiveAccess, RepositoryAccess } from "./repository-access.js";
import { checkVm } from "./vm-checks.js";
import { readVm } from "./vm-records.js";

interface PlannedDisk {
  readonly vdi: string;
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** Whether only changes are read. The transport is chosen when the snapshot exists. */
  readonly mode: "full" | "incremental";
  readonly reasons?: readonly string[];
}

interface PlannedVm {
  readonly vm: string;
  readonly name: string;
  readonly snapshot?: string;
  /** Why the backup would fail. */
  readonly problem?: string;
  readonly repositories?: readonly {
    readonly repository: string;
    readonly name: string;
    readonly disks: readonly PlannedDisk[];
  }[];
  readonly skippedDisks?: readonly SkippedDisk[];
}

/** What a run would do now. */
export interface BackupPlan {
  readonly total: number;
  /** At most 100. */
  readonly vms: readonly PlannedVm[];
  readonly excluded: readonly {
    readonly vm: string;
    readonly name: string;
    readonly reason: string;
  }[];
}

interface PlanParts {
  readonly catalog: Catalog;
  readonly objects: PoolObjects;
  readonly repositories: RepositoryAccess;
  readonly archives: ArchiveAccess;
}

/** Maximum number of VMs whose disks are read for a plan. */
const MAX_PLANNED = 100;

/** @throws XoError errors that a run would have before its first VM */
export async function planBackup(
  parts: PlanParts,
  request: {
    readonly job: Job;
    readonly user: AuthenticatedUser;
    readonly settings: BackupBody;
  },
): Promise<BackupPlan> {
  const { job, user, settings } = request;
  const { vms, excluded } = await selectVms(parts.catalog, user, settings);
  const planned: PlannedVm[] = [];
  for (const vm of vms.slice(0, MAX_PLANNED))
    planned.push(await planVm(parts, { job, settings, vm }));
  return {
    total: vms.length,
    vms: planned,
    excluded: excluded
      .slice(0, MAX_PLANNED)
      .map(({ id, name, reason }) => ({ vm: id, name, reason })),
  };
}

async function planVm(
  { objects, repositories, archives }: PlanParts,
  {
    job,
    settings,
    vm: { id, name },
  }: {
    readonly job: Job;
    readonly settings: BackupBody;
    readonly vm: SelectedVm;
  },
): Promise<PlannedVm> {
  try {
    const { xapi, ref, object } = objects.get(id, "VM");
    const contents = await readVm(xapi, ref);
    const planned: NonNullable<PlannedVm["repositories"]>[number][] = [];
    for (const repository of settings.repositories) {
      const base = await chooseBase(xapi, archives, {
        job: job.id,
        run: "",
        vm: id,
        repository,
        disks: contents.disks,
        isFull: settings.mode === "full",
        fullInterval: settings.fullInterval,
      });
      const disks = contents.disks.map((disk): PlannedDisk => {
        const problem = base.problems.get(disk.uuid);
        return {
          vdi: disk.uuid,
          name: disk.name,
          size: disk.size,
          mode: base.disks.has(disk.uuid) ? "incremental" : "full",
          ...(problem === undefined ? {} : { reasons: [problem] }),
        };
      });
      const { name } = repositories.get(repository);
      planned.push({ repository, name, disks });
    }
    const problem = await checkVm(xapi, contents, settings).then(
      () => undefined,
      (error: unknown) => (error as Error).message,
    );
    return {
      vm: id,
      name,
      repositories: planned,
      snapshot: snapshotModeOf(object, settings),
      skippedDisks: contents.skipped,
      ...(problem === undefined ? {} : { problem }),
    };
  } catch (error) {
    return { vm: id, name, problem: (error as Error).message };
  }
}
