import { computed, reactive, ref, type ComputedRef, type Ref } from "vue";
import type { useChange } from "../../forms/use-change.js";
import type { Schedule } from "../../settings/jobs/job.js";
import { fromCron, newFrequency, toCron, type Frequency } from "./frequency.js";

interface ScheduleEntries {
  readonly frequency: Frequency;
  readonly timezone: Ref<string>;
  /** Whether the form has the schedule: a job with several has dialogs for each. */
  readonly isHere: boolean;
  /** Whether the typed expression cannot be used. */
  readonly needsCron: ComputedRef<boolean>;
  /** @returns whether it was saved */
  readonly save: (jobId: string) => Promise<boolean>;
}

/** The fields of a job's schedule. @param isNew whether the job is created */
export function useScheduleEntries(
  schedules: readonly Schedule[],
  isNew: boolean,
  change: Pick<ReturnType<typeof useChange>, "run">,
): ScheduleEntries {
  const [schedule] = schedules;
  const manual = isNew ? {} : { kind: "manual" as const };
  const frequency = reactive(
    schedule === undefined
      ? { ...newFrequency, ...manual }
      : fromCron(schedule.cron),
  );
  const timezone = ref(
    schedule === undefined
      ? Intl.DateTimeFormat().resolvedOptions().timeZone
      : (schedule.timezone ?? ""),
  );

  async function save(jobId: string): Promise<boolean> {
    const cron = toCron(frequency);
    const zone = timezone.value;
    if (schedule === undefined) {
      if (cron === undefined) return true;
      const created = await change.run("schedule.create", {
        jobId,
        cron,
        ...(zone === "" ? {} : { timezone: zone }),
      });
      return created !== undefined;
    }
    const { id } = schedule;
    const saved =
      cron === undefined
        ? await change.run("schedule.delete", { id })
        : await change.run("schedule.set", {
            id,
            cron,
            timezone: zone === "" ? null : zone,
          });
    return saved !== undefined;
  }

  return {
    frequency,
    timezone,
    isHere: schedules.length < 2,
    needsCron: computed(
      () => frequency.kind !== "manual" && toCron(frequency) === undefined,
    ),
    save,
  };
}
