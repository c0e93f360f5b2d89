import { computed, onScopeDispose, shallowRef, watch } from "vue";
import type { ComputedRef, ShallowRef } from "vue";
import type { FormFailure } from "../forms/failure.js";
import { useRequest } from "../forms/use-request.js";
import { useServer } from "../live/use-server.js";
import type { Schedule } from "../settings/jobs/job.js";
import { useTasks } from "../tasks/use-tasks.js";
import { isRunning, type BackupRun } from "./run.js";

export interface ScheduledJobs<J, R> {
  /** Jobs of all types; undefined: not loaded yet. */
  readonly all: Readonly<ShallowRef<readonly J[] | undefined>>;
  /** Newest first. */
  readonly runs: ComputedRef<readonly R[] | undefined>;
  readonly failure: Readonly<ShallowRef<FormFailure | undefined>>;
  readonly schedulesOf: (jobId: string) => readonly Schedule[];
  /** Next time of a job, in ms since the epoch. */
  readonly nextOf: (jobId: string) => number | undefined;
  readonly lastOf: (jobId: string) => R | undefined;
  readonly reload: () => Promise<void>;
  readonly reloadRuns: () => Promise<void>;
}

/** Jobs with their schedules and newest runs; the runs are requested again at an interval, and when the task of one ends. */
export function useScheduledJobs<J, R extends BackupRun>({
  types,
  fields,
  limit,
}: {
  /** Of the jobs whose runs are requested. */
  readonly types: readonly string[];
  readonly fields: "all" | "summary";
  readonly limit: number;
}): ScheduledJobs<J, R> {
  const {
    value: all,
    failure,
    reload: reloadJobs,
  } = useRequest<readonly J[]>((call) => call("job.getAll"));
  const { value: schedules, reload: reloadSchedules } = useRequest<
    readonly Schedule[]
  >((call) => call("schedule.getAll"));
  const { value: page, reload: reloadRuns } = useRequest<{
    runs: readonly R[];
  }>((call) => call("jobRun.list", { types: [...types], fields, limit }));

  const runs = computed(() => page.value?.runs);
  const schedulesOf = (jobId: string) =>
    schedules.value?.filter((one) => one.jobId === jobId) ?? [];
  const next = useNextTimes(schedules);
  pollRuns(reloadRuns, () => runs.value?.some(isRunning) === true);
  reloadEnded(runs, reloadRuns);

  return {
    all,
    runs,
    failure,
    schedulesOf,
    nextOf: (jobId) =>
      schedulesOf(jobId)
        .flatMap(({ id }) => next.value.get(id) ?? [])
        .sort((a, b) => a - b)[0],
    lastOf: (jobId) => runs.value?.find((run) => run.jobId === jobId),
    async reload() {
      await Promise.all([reloadJobs(), reloadSchedules(), reloadRuns()]);
    },
    reloadRuns,
  };
}

/** The server sends no notifications of runs: polled every 2 s during a run, otherwise every 10 s. */
function pollRuns(reload: () => Promise<void>, isBusy: () => boolean): void {
  let timer: ReturnType<typeof setTimeout>;
  const plan = () => {
    timer = setTimeout(
      () => {
        void (document.hidden ? Promise.resolve() : reload()).then(plan);
      },
      isBusy() ? 2_000 : 10_000,
    );
  };
  plan();
  onScopeDispose(() => {
    clearTimeout(timer);
  });
}

/** Requests the runs again when the task of one ends, which the server sends at once. */
function reloadEnded(
  runs: ComputedRef<readonly BackupRun[] | undefined>,
  reload: () => Promise<void>,
): void {
  const { tasks } = useTasks();
  const ended = () => {
    const ids = (runs.value ?? []).flatMap((run) =>
      isRunning(run) ? [run.taskId] : [],
    );
    return (tasks.value ?? [])
      .filter(({ id, status }) => status !== "pending" && ids.includes(id))
      .map(({ id }) => id)
      .join();
  };
  watch(ended, (ids) => {
    if (ids !== "") void reload();
  });
}

/** Next time of each enabled schedule, by its id; again each minute. */
function useNextTimes(
  schedules: Readonly<ShallowRef<readonly Schedule[] | undefined>>,
): Readonly<ShallowRef<ReadonlyMap<string, number>>> {
  const { call } = useServer();
  const next = shallowRef<ReadonlyMap<string, number>>(new Map());

  async function loadRuns(): Promise<void> {
    const enabled = (schedules.value ?? []).filter((one) => one.enabled);
    const times = await Promise.all(
      enabled.map(async ({ id, cron, timezone }) => {
        const answer = await call("schedule.preview", {
          cron,
          count: 1,
          ...(timezone === undefined ? {} : { timezone }),
          // The schedule has no next time, or the connection is lost.
        }).catch(() => []);
        const [time] = answer as number[];
        return [id, time] as const;
      }),
    );
    next.value = new Map(
      times.flatMap(([id, time]) =>
        time === undefined ? [] : [[id, time] as const],
      ),
    );
  }

  watch(schedules, () => void loadRuns());
  const timer = setInterval(() => {
    if (!document.hidden) void loadRuns();
  }, 60_000);
  onScopeDispose(() => {
    clearInterval(timer);
  });
  return next;
}
