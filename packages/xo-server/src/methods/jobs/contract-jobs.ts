import { XoError } from "@xo-server/model";
import type { Job, Schedule } from "@xo-server/store";
import { Type, type Static } from "typebox";
import { toJobParts, type JobType } from "../../jobs/check-job.js";
import type { OperationContext } from "../definition/define-operation.js";

type Services = OperationContext["services"];

export const jobId = Type.String({
  minLength: 1,
  maxLength: 128,
  description: "Id of a backup job.",
});
/**
 * Schema of an optional object with arbitrary members: Xen Orchestra's clients
 * send more than this server reads.
 */
export const openObject = (description: string) =>
  Type.Optional(Type.Object({}, { additionalProperties: true, description }));

/** A job as Xen Orchestra's clients know it. */
export const PublicJob = Type.Object(
  { id: Type.String(), type: Type.String(), name: Type.String() },
  { additionalProperties: true },
);

/** Parameters of all types of jobs. */
export const jobParts = {
  name: Type.Optional(
    Type.String({ maxLength: 1024, description: "Name of the job." }),
  ),
  proxy: Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description: "Proxies are not supported.",
    }),
  ),
  remotes: openObject("Backup repositories: {id}, or {id: {__or: [ids]}}."),
  settings: openObject(
    "Settings, by the id of a schedule; the key `` (empty) applies to all schedules.",
  ),
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
  {
    maxProperties: 100,
    description: "Schedules, by the ids that `settings` refers to.",
  },
);

/** Parameters of a run. */
export const runParts = {
  id: jobId,
  schedule: Type.String({
    maxLength: 128,
    description: "Id of the schedule whose settings apply; empty: none.",
  }),
};

/** Parameters of a run that can be limited to some VMs. */
export const vmRunParts = {
  ...runParts,
  settings: openObject(
    "Settings that take precedence in this run, by the id of a schedule; the key `` (empty) applies to all schedules.",
  ),
  vm: Type.Optional(
    Type.String({
      maxLength: 128,
      description: "Id of a VM: only this VM is backed up.",
    }),
  ),
  vms: Type.Optional(
    Type.Array(Type.String({ maxLength: 128 }), {
      maxItems: 10_000,
      description: "Ids of VMs: only these VMs are backed up.",
    }),
  ),
};

/** How clients of Xen Orchestra see a job type. */
interface ContractJobType<Input, Body> {
  readonly type: JobType;
  /** Name of the type in errors. */
  readonly name: string;
  readonly toContract: (
    job: Job,
    schedules: readonly Schedule[],
  ) => Static<typeof PublicJob>;
  /**
   * @param before settings that are absent from the input are taken from here
   * @throws XoError INVALID_PARAMETERS
   */
  readonly fromContract: (input: Input, before?: Body) => object;
  /** The input for a run that differs from the job only in its settings. */
  readonly toRunInput: (settings: object, body: Body) => Input;
}

type NewJob<Input> = Input & {
  readonly name?: string;
  readonly schedules?: Readonly<Record<string, ScheduleInput>>;
};

/** Jobs of a type for the methods of Xen Orchestra's clients. */
export class ContractJobs<
  Input extends { readonly settings?: object | undefined },
  Body,
> {
  readonly #type: ContractJobType<Input, Body>;

  constructor(type: ContractJobType<Input, Body>) {
    this.#type = type;
  }

  ofAll({ jobs }: Services): Job[] {
    return [...jobs.list()].filter(({ type }) => type === this.#type.type);
  }

  toPublic({ store }: Services, job: Job): Static<typeof PublicJob> {
    return this.#type.toContract(job, store.schedules.ofJob(job.id));
  }

  /** All jobs for administrators, none for others. */
  list({ services, permission }: Pick<OperationContext, Caller>) {
    return permission === "admin"
      ? this.ofAll(services).map((job) => this.toPublic(services, job))
      : [];
  }

  /** @throws XoError NO_SUCH_OBJECT */
  get(services: Services, id: string): Static<typeof PublicJob> {
    return this.toPublic(services, this.#find(services, id));
  }

  /**
   * Creates a job with its schedules. Settings refer to schedules by ids that the
   * client has chosen.
   * @returns the id of the job
   * @throws XoError: then neither job nor schedules remain
   */
  async create(
    { services: { jobs }, user }: Pick<OperationContext, "services" | "user">,
    input: NewJob<Input>,
  ): Promise<string> {
    const { name = "", schedules = {} } = input;
    const { type, fromContract } = this.#type;
    const userId = user?.id;
    const job = await jobs.create({
      ...toJobParts({ type, name, ...fromContract(input) }),
      ...(userId === undefined ? {} : { userId }),
    });
    try {
      const settings = new Map(Object.entries(input.settings ?? {}));
      for (const [requestedId, schedule] of Object.entries(schedules)) {
        const { id } = await createSchedule(jobs, job.id, schedule);
        const own: unknown = settings.get(requestedId);
        settings.delete(requestedId);
        settings.set(id, own ?? {});
      }
      const renamed = { ...input, settings: Object.fromEntries(settings) };
      const { body } = toJobParts({ type, name, ...fromContract(renamed) });
      await jobs.set(job.id, { body });
    } catch (error) {
      await jobs.delete(job.id);
      throw error;
    }
    return job.id;
  }

  /**
   * Changes a job; absent properties remain.
   * @throws XoError
   */
  async edit(
    services: Services,
    input: Input & { readonly id: string; readonly name?: string },
  ): Promise<true> {
    const { type, fromContract } = this.#type;
    const job = this.#find(services, input.id);
    const { name = job.name } = input;
    const changed = fromContract(input, job.body as Body);
    const { body } = toJobParts({ type, name, ...changed });
    await services.jobs.set(job.id, { name, body });
    return true;
  }

  /** @throws XoError NO_SUCH_OBJECT */
  async delete(services: Services, id: string): Promise<true> {
    await services.jobs.delete(this.#find(services, id).id);
    return true;
  }

  /** Runs a job and waits for its end. @throws XoError of the run */
  async run(
    { services, task }: Pick<OperationContext, "services" | "task">,
    { id, schedule, settings, vm, vms }: RunInput,
  ): Promise<true> {
    const { jobs } = services;
    const job = this.#find(services, id);
    const chosen = vms ?? (vm === undefined ? undefined : [vm]);
    const choice = {
      ...(chosen === undefined ? {} : { vms: chosen }),
      ...(settings === undefined || Object.keys(settings).length === 0
        ? {}
        : { body: this.#bodyOfRun(job, settings) }),
    };
    const { ended } = await jobs.begin(
      {
        jobId: job.id,
        ...(schedule === "" ? {} : { scheduleId: jobs.schedule(schedule).id }),
        ...(Object.keys(choice).length === 0 ? {} : { choice }),
      },
      task.taskId === undefined ? undefined : task,
    );
    await ended;
    return true;
  }

  /** The body of the job with other settings. @throws XoError INVALID_PARAMETERS */
  #bodyOfRun({ name, body }: Job, settings: object): object {
    const { type, toRunInput, fromContract } = this.#type;
    const input = toRunInput(settings, body as Body);
    const changed = fromContract(input, body as Body);
    return toJobParts({ type, name, ...changed }).body;
  }

  #find({ jobs }: Services, id: string): Job {
    const job = jobs.get(id);
    const { type, name } = this.#type;
    if (job.type === type) return job;
    throw new XoError("NO_SUCH_OBJECT", { type: name, id });
  }
}

type Caller = "services" | "permission";

interface RunInput {
  readonly id: string;
  /** Id of the schedule; empty: none. */
  readonly schedule: string;
  readonly settings?: object;
  readonly vm?: string;
  readonly vms?: readonly string[];
}

function createSchedule(
  jobs: Services["jobs"],
  jobId: string,
  { cron, enabled, timezone, name = "" }: ScheduleInput,
) {
  return jobs.createSchedule({
    jobId,
    cron,
    name,
    ...(enabled === undefined ? {} : { enabled }),
    ...(timezone === undefined ? {} : { timezone }),
  });
}
