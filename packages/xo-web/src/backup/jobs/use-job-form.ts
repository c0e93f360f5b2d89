import type { ComputedRef, Ref } from "vue";
import type { Json } from "@xo-server/kit";
import { useChange } from "../../forms/use-change.js";
import type { Schedule } from "../../settings/jobs/job.js";
import type { Frequency } from "./frequency.js";
import { useScheduleEntries } from "./use-schedule-entries.js";

export interface JobForm {
  readonly change: ReturnType<typeof useChange>;
  readonly frequency: Frequency;
  readonly timezone: Ref<string>;
  /** A job with several schedules has dialogs for each. */
  readonly isScheduledHere: boolean;
  /** The chosen frequency is not complete. */
  readonly needsCron: ComputedRef<boolean>;
  /** Creates or changes the job with its schedule. @returns whether that succeeded */
  readonly save: (
    properties: Readonly<Record<string, Json>>,
  ) => Promise<boolean>;
}

/** Common behavior of the forms of all types of jobs. @param job undefined: a new one */
export function useJobForm(
  job: { readonly id: string } | undefined,
  schedules: readonly Schedule[],
): JobForm {
  const change = useChange();
  const entries = useScheduleEntries(schedules, job === undefined, change);
  const { frequency, timezone, isHere, needsCron } = entries;
  /** Id of the job, once it exists: when its schedule was refused, only that is repeated. */
  let jobId = job?.id;

  return {
    change,
    frequency,
    timezone,
    isScheduledHere: isHere,
    needsCron,
    async save(properties) {
      if (jobId === undefined) {
        const created = await change.run<string>("job.create", {
          job: properties,
        });
        if (created === undefined) return false;
        jobId = created.answer;
      } else if (!(await change.run("job.set", { id: jobId, job: properties })))
        return false;
      return !isHere || entries.save(jobId);
    },
  };
}
