import { computed, type ComputedRef } from "vue";
import { backupJobTypes, type BackupJob, type RestoreTestJob } from "./job.js";
import type { BackupRun } from "./run.js";
import { useScheduledJobs, type ScheduledJobs } from "./use-scheduled-jobs.js";

type Job = BackupJob | RestoreTestJob;

/** Runs are without the entries of their VMs. */
export interface BackupJobs extends Omit<ScheduledJobs<Job, BackupRun>, "all"> {
  /** By name; undefined: not loaded yet. */
  readonly jobs: ComputedRef<readonly BackupJob[] | undefined>;
  /** Jobs that test backups, by name. */
  readonly testJobs: ComputedRef<readonly RestoreTestJob[] | undefined>;
}

/** Maximum number of runs that are requested at once. */
const MAX_RUNS = 100;

/** Backup jobs with their schedules and newest runs; the runs are requested again at an interval. */
export function useJobs(): BackupJobs {
  const { all, ...others } = useScheduledJobs<Job, BackupRun>({
    types: [...backupJobTypes, "restore-test"],
    fields: "summary",
    limit: MAX_RUNS,
  });
  const ofType = <T extends Job>(...requested: readonly T["type"][]) =>
    computed(() =>
      all.value
        ?.filter((job): job is T => requested.includes(job.type))
        .toSorted((a, b) => a.name.localeCompare(b.name)),
    );
  return {
    jobs: ofType<BackupJob>(...backupJobTypes),
    testJobs: ofType<RestoreTestJob>("restore-test"),
    ...others,
  };
}
