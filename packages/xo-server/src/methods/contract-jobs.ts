import { XoError } from "@xo-server/model";
import type { Job } from "@xo-server/store";
import { Type, type Static } from "typebox";
import type { RunChoice } from "../jobs/job-kind.js";
import { toJobParts, type JobType } from "../jobs/check-job.js";
import type { OperationContext } from "./define-operation.js";

type Services = OperationContext["services"];

export const jobId = Type.String({
  minLength: 1,
  maxLength: 128,
  description: "Of a backup job.",
});
export const open = (description: string) =>
  Type.Optional(Type.Object({}, { additionalProperties: true, description }));

/** A job as Xen Orchestra's clients know it. */
export const PublicJob = Type.Object(
  { id: Type.String(), type: Type.String(), name: Type.String() },
  { additionalProperties: true },
);

/** Parameters of all types of jobs. */
export const jobParts = {
  name: Type.Optional(Type.String({ maxLength: 1024 })),
  proxy: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  remotes: open("{id} or {id: {__or: [ids]}} of backup repositories."),
  settings: open("By id of a schedule; those of all schedules under ``."),
};

const ScheduleInput = Type.Object(
  {
    cron: Type.String({ maxLength: 256 }),
    enabled: Type.Optional(Type.Boolean()),
    name: Type.Optional(Type.String({ maxLength: 1024 })),
    timezone: Type.Optional(Type.String({ maxLength: 64 })),
  },
  { additionalProperties: true },
);
type ScheduleInput = Static<typeof ScheduleInput>;

export const newSchedules = Type.Record(
  Type.String({ maxLength: 128 }),
  ScheduleInput,
  { maxProperties: 100, description: "By ids that `settings` refers to." },
);

/** All jobs of a type. */
export function jobsOfType({ jobs }: Services, type: JobType): Job[] {
  return [...jobs.list()].filter((job) => job.type === type);
}

/** @param name of the type, for the error @throws XoError NO_SUCH_OBJECT */
export function jobOfType(
  services: Services,
  { type, name }: { readonly type: JobType; readonly name: string },
  id: string,
): Job {
  const job = services.jobs.get(id);
  if (job.type === type) return job;
  throw new XoError("NO_SUCH_OBJECT", { type: name, id });
}

export interface NewContractJob<I> {
  readonly type: JobType;
  readonly name: string;
  readonly schedules: Readonly<Record<string, ScheduleInput>>;
  readonly input: I;
  /** The body of the job. @throws XoError */
  readonly toBody: (input: I) => object;
}

/**
 * Creates a job with its schedules: settings refer to ids that the client chose for them.
 * @returns its id
 * @throws XoError: then nothing is left of it
 */
export async function createContractJob<I extends { settings?: object }>(
  { services: { jobs }, user }: Pick<OperationContext, "services" | "user">,
  { type, name, schedules, input, toBody }: NewContractJob<I>,
): Promise<string> {
  const userId = user?.id;
  const job = await jobs.create({
    ...toJobParts({ type, name, ...toBody(input) }),
    ...(userId === undefined ? {} : { userId }),
  });
  try {
    const settings = new Map(Object.entries(input.settings ?? {}));
    for (const [
      given,
      { cron, enabled, timezone, name = "" },
    ] of Object.entries(schedules)) {
      const schedule = await jobs.createSchedule({
        jobId: job.id,
        cron,
        name,
        ...(enabled === undefined ? {} : { enabled }),
        ...(timezone === undefined ? {} : { timezone }),
      });
      const own: unknown = settings.get(given);
      settings.delete(given);
      settings.set(schedule.id, own ?? {});
    }
    const renamed = { ...input, settings: Object.fromEntries(settings) };
    const { body } = toJobParts({ type, name, ...toBody(renamed) });
    await jobs.set(job.id, { body });
  } catch (error) {
    await jobs.delete(job.id);
    throw error;
  }
  return job.id;
}

/** Runs a job and waits for its end. @param schedule id; empty: none @throws XoError of the run */
export async function runContractJob(
  { services: { jobs }, task }: Pick<OperationContext, "services" | "task">,
  job: Job,
  {
    schedule,
    choice,
  }: { readonly schedule: string; readonly choice?: RunChoice | undefined },
): Promise<true> {
  const scheduleId = schedule === "" ? undefined : jobs.schedule(schedule).id;
  const { ended } = await jobs.begin(
    {
      jobId: job.id,
      ...(scheduleId === undefined ? {} : { scheduleId }),
      ...(choice === undefined ? {} : { choice }),
    },
    task.taskId === undefined ? undefined : task,
  );
  await ended;
  return true;
}
