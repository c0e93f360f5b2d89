/** What a run would do now, as `job.plan` returns it. Sizes in bytes. */
export interface BackupPlan {
  readonly total: number;
  /** Not all, if there are many. */
  readonly vms: readonly PlannedVm[];
  readonly excluded: readonly {
    readonly vm: string;
    readonly name: string;
    readonly reason: string;
  }[];
}

interface PlannedVm {
  readonly vm: string;
  readonly name: string;
  /** Why it would not be backed up. */
  readonly problem?: string;
  readonly repositories?: readonly {
    readonly repository: string;
    readonly name: string;
    readonly disks: readonly PlannedDisk[];
  }[];
  readonly skippedDisks?: readonly {
    readonly vdi: string;
    readonly name_label: string;
    readonly reason: string;
  }[];
}

interface PlannedDisk {
  readonly vdi: string;
  readonly name: string;
  readonly size: number;
  readonly mode: "full" | "incremental";
  readonly reasons?: readonly string[];
}

/** Sizes of the disks of which everything, or only what changed is read; each disk counts once. */
export function planSummary({ vms }: Pick<BackupPlan, "vms">): {
  readonly full: number;
  readonly incremental: number;
  readonly problems: number;
} {
  const sizes = { full: 0, incremental: 0 };
  let problems = 0;
  for (const { problem, repositories = [] } of vms) {
    if (problem !== undefined) problems++;
    const disks = new Map<string, PlannedDisk>();
    for (const disk of repositories.flatMap((repository) => repository.disks))
      // One reading serves all repositories: in full if one of them needs that.
      if (disk.mode === "full" || !disks.has(disk.vdi))
        disks.set(disk.vdi, disk);
    for (const { size, mode } of disks.values()) sizes[mode] += size;
  }
  return { ...sizes, problems };
}
