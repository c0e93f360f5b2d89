/** Which VMs are backed up, as `backup.coverage` returns it. */
export interface Coverage {
  readonly protected: readonly CoveredVm[];
  readonly notProtected: readonly CoveredVm[];
  readonly excluded: readonly CoveredVm[];
}

interface CoveredVm {
  readonly vm: string;
  readonly name: string;
  /** Milliseconds since the epoch; absent: there is none. */
  readonly lastBackup?: number;
  /** Why it is excluded. */
  readonly excluded?: string;
}

export interface UncoveredVm extends CoveredVm {
  readonly why: "no-job" | "no-backup" | "excluded";
}

interface CoverageSummary {
  /** VMs that should be backed up: all but the excluded. */
  readonly total: number;
  /** VMs with a job and a backup. */
  readonly covered: number;
  /** 0 to 1. */
  readonly share: number;
  /** What is missing, then the excluded. */
  readonly others: readonly UncoveredVm[];
}

/** Protected are the VMs of scheduled jobs that have a backup. */
export function summaryOf(coverage: Coverage): CoverageSummary {
  const { protected: planned, notProtected, excluded } = coverage;
  const covered = planned.filter((vm) => vm.lastBackup !== undefined).length;
  const total = planned.length + notProtected.length;
  const withWhy = (why: UncoveredVm["why"]) => (vm: CoveredVm) => ({
    ...vm,
    why,
  });
  return {
    total,
    covered,
    share: total === 0 ? 1 : covered / total,
    others: [
      ...notProtected.map(withWhy("no-job")),
      ...planned
        .filter((vm) => vm.lastBackup === undefined)
        .map(withWhy("no-backup")),
      ...excluded.map(withWhy("excluded")),
    ],
  };
}
