import { computed, type ComputedRef } from "vue";
import {
  useScheduledJobs,
  type ScheduledJobs,
} from "../backup/use-scheduled-jobs.js";
import type { RollingJob, RollingJobRun } from "./rolling-job.js";

interface RollingJobs extends Omit<
  ScheduledJobs<RollingJob, RollingJobRun>,
  "all"
> {
  /** By name; undefined: not loaded yet. */
  readonly jobs: ComputedRef<readonly RollingJob[] | undefined>;
}

/** Jobs of rolling updates with their schedules and newest runs. */
export function useRollingJobs(): RollingJobs {
  const { all, ...others } = useScheduledJobs<RollingJob, RollingJobRun>({
    types: ["rollingUpdate"],
    fields: "all",
    limit: 50,
  });
  const jobs = computed(() =>
    all.value
      ?.filter(({ type }) => type === "rollingUpdate")
      .toSorted((a, b) => a.name.localeCompare(b.name)),
  );
  return { jobs, ...others };
}
