import { shallowRef, type ShallowRef } from "vue";
import { useLocale } from "../../locale/use-locale.js";
import type { Schedule } from "../../settings/jobs/job.js";
import { useToasts } from "../../toasts/use-toasts.js";
import type { JobAct, JobActions } from "./use-job-actions.js";

interface ScheduleDialogState<Job> {
  /** The job whose schedule is edited; without `schedule` a new one. Undefined: the dialog is closed. */
  readonly scheduled: ShallowRef<
    { job: Job; schedule?: Schedule | undefined } | undefined
  >;
  /** Closes the dialog after it has saved. */
  readonly scheduleSaved: () => Promise<void>;
  /** An action of the menu of a job, except `plan`: lists with previews handle it. */
  readonly act: (job: Job, what: JobAct) => Promise<void>;
}

/** The dialog of schedules of a list of jobs, and the actions of the menus of its jobs. */
export function useScheduleDialog<Job extends { id: string; name: string }>(
  actions: Pick<JobActions, "cancel" | "switchSchedules">,
  reload: () => Promise<void>,
): ScheduleDialogState<Job> {
  const { text } = useLocale();
  const toasts = useToasts();
  const scheduled: ScheduleDialogState<Job>["scheduled"] = shallowRef();
  return {
    scheduled,
    async scheduleSaved() {
      scheduled.value = undefined;
      toasts.show({
        tone: "good",
        text: text.value.settings.jobs.scheduleSaved,
      });
      await reload();
    },
    async act(job, what) {
      if (what === "cancel") return actions.cancel(job);
      if (what === "switch") return actions.switchSchedules(job);
      if (what === "schedule") scheduled.value = { job };
    },
  };
}
