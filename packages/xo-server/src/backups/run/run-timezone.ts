import type { Store } from "@xo-server/store";
import type { KindRun } from "../../jobs/job-kind.js";

/** The time zone of a run: that of its settings, otherwise that of its schedule. */
export function timezoneOf(
  { schedules }: Pick<Store, "schedules">,
  { job, scheduleId }: Pick<KindRun, "job" | "scheduleId">,
  settings: { readonly timezone?: string | undefined },
): string | undefined {
  const schedule =
    scheduleId === undefined
      ? schedules.ofJob(job.id)[0]
      : schedules.get(scheduleId);
  return settings.timezone ?? schedule?.timezone;
}
