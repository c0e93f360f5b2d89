import { computed, type ComputedRef } from "vue";
import type { BackupRun } from "../../backup/run.js";
import {
  useScheduledJobs,
  type ScheduledJobs,
} from "../../backup/use-scheduled-jobs.js";
import type { UsageReportJob } from "./usage-report.js";

interface UsageReports extends Omit<
  ScheduledJobs<UsageReportJob, BackupRun>,
  "all"
> {
  /** By name; undefined: not loaded yet. */
  readonly jobs: ComputedRef<readonly UsageReportJob[] | undefined>;
}

/** Jobs that send usage reports, with their schedules and newest runs. */
export function useUsageReports(): UsageReports {
  const { all, ...others } = useScheduledJobs<UsageReportJob, BackupRun>({
    types: ["usageReport"],
    fields: "summary",
    limit: 50,
  });
  const jobs = computed(() =>
    all.value
      ?.filter(({ type }) => type === "usageReport")
      .toSorted((a, b) => a.name.localeCompare(b.name)),
  );
  return { jobs, ...others };
}
