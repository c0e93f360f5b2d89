import { useChange } from "../../forms/use-change.js";
import { fill } from "../../locale/messages.js";
import type { TaskItem } from "../../tasks/task.js";
import { useToasts } from "../../toasts/use-toasts.js";
import { isRunning, type BackupRun } from "../run.js";
import type { BackupJobs } from "../use-jobs.js";

/** An entry of the menu of a job. */
export type JobAct = "plan" | "schedule" | "switch" | "cancel";

interface NamedJob {
  readonly id: string;
  readonly name: string;
}

export interface JobActions {
  /** @param startedText text of the notice, with `{name}` */
  readonly runNow: (job: NamedJob, startedText: string) => Promise<void>;
  readonly cancel: (job: NamedJob) => Promise<void>;
  /** Enables the schedules of a job, or disables them all. */
  readonly switchSchedules: (job: NamedJob) => Promise<void>;
}

/** The task of the run of a job in progress. */
export function runTaskOf(
  { lastOf }: { readonly lastOf: (jobId: string) => BackupRun | undefined },
  tasks: readonly TaskItem[] | undefined,
  jobId: string,
): TaskItem | undefined {
  const run = lastOf(jobId);
  return run !== undefined && isRunning(run)
    ? tasks?.find((task) => task.id === run.taskId)
    : undefined;
}

/** Actions on a job besides editing it. */
export function useJobActions({
  schedulesOf,
  reload,
  reloadRuns,
}: Pick<BackupJobs, "schedulesOf" | "reload" | "reloadRuns">): JobActions {
  const toasts = useToasts();
  const change = useChange("toast");
  return {
    async runNow({ id, name }, startedText) {
      if ((await change.run("job.runNow", { id })) === undefined) return;
      toasts.show({
        tone: "good",
        id: `backup-${id}`,
        text: fill(startedText, { name }),
      });
      await reloadRuns();
    },
    async cancel({ id }) {
      await change.run("job.cancel", { id });
      await reloadRuns();
    },
    async switchSchedules(job) {
      const schedules = schedulesOf(job.id);
      const enabled = !schedules.some((one) => one.enabled);
      for (const { id } of schedules)
        await change.run("schedule.set", { id, enabled });
      await reload();
    },
  };
}
