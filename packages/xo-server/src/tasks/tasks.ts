import { randomBytes } from "node:crypto";
import { XapiError, XoError } from "@xo-server/model";
import type { Store, Task } from "@xo-server/store";
import type { Clock } from "../clock.js";
import type { Logger } from "../log/logger.js";

export interface TasksOptions {
  readonly store: Pick<Store["tasks"], "put" | "get" | "list">;
  /** What tells this server's tasks from those of others. */
  readonly owner: string;
  readonly clock: Pick<Clock, "now">;
  readonly logger: Pick<Logger, "warn">;
}

/** What is being done, for whom, to what. */
export interface TaskSubject {
  readonly name: string;
  readonly objectType: string;
  readonly objectId: string;
  readonly userId: string | undefined;
  readonly params: object;
}

/** As clients know it (CONTRACT 2.3); times in ms. */
export type TaskView = Readonly<Record<string, unknown>> & {
  readonly id: string;
  readonly status: Task["status"];
};

interface Running {
  readonly task: Task;
  readonly ended: Promise<Task>;
}

/** Work that a client does not wait for. It is written down when it begins and when it ends. */
export class Tasks {
  readonly #options: TasksOptions;
  readonly #running = new Map<string, Running>();

  constructor(options: TasksOptions) {
    this.#options = options;
  }

  /** @returns the task's id */
  async follow(subject: TaskSubject, work: Promise<unknown>): Promise<string> {
    const task = this.#begin(subject);
    await this.#write(task);
    const ended = work
      .then(
        (result) => this.#end(task, "success", toResult(result)),
        (error: unknown) =>
          this.#end(task, "failure", toFailure(error as Error)),
      )
      .finally(() => this.#running.delete(task.id));
    this.#running.set(task.id, { task, ended });
    return task.id;
  }

  /**
   * @param wait until it is not pending any more, where it runs here
   * @returns undefined: there is none, or it is somebody else's
   */
  async get(
    id: string,
    reader: TaskReader,
    wait: boolean,
  ): Promise<TaskView | undefined> {
    const running = this.#running.get(id);
    const task =
      running === undefined
        ? await this.#options.store.get(id)
        : await (wait ? running.ended : running.task);
    return task !== undefined && mayRead(reader, task)
      ? toView(task)
      : undefined;
  }

  /** The latest thousand. */
  async list(
    reader: TaskReader,
    about: Pick<Task, "objectId"> = {},
  ): Promise<readonly TaskView[]> {
    const mine = reader.isAdmin ? {} : { userId: reader.id };
    const { tasks } = await this.#options.store.list({
      limit: 1000,
      ...mine,
      ...about,
    });
    return tasks.map(toView);
  }

  #begin({ userId, ...subject }: TaskSubject): Task {
    const now = this.#options.clock.now();
    return {
      id: `${now.toString(36)}-${randomBytes(6).toString("hex")}`,
      owner: this.#options.owner,
      name: subject.name,
      status: "pending",
      ...(userId === undefined ? {} : { userId }),
      objectId: subject.objectId,
      startedAt: now,
      updatedAt: now,
      body: {
        properties: { ...subject, userId, type: "xo:rest-api:action" },
      },
    };
  }

  async #end(task: Task, status: Task["status"], told: object): Promise<Task> {
    const now = this.#options.clock.now();
    const ended: Task = {
      ...task,
      status,
      updatedAt: now,
      endedAt: now,
      body: { ...(task.body as object), ...told },
    };
    await this.#write(ended);
    return ended;
  }

  /** The work goes on even if the store is gone. */
  async #write(task: Task): Promise<void> {
    try {
      await this.#options.store.put(task);
    } catch (error) {
      this.#options.logger.warn(`task ${task.id} is not written down`, {
        error,
      });
    }
  }
}

/** Who asks for tasks: admins see all, others their own. */
export interface TaskReader {
  readonly id: string;
  readonly isAdmin: boolean;
}

function mayRead({ id, isAdmin }: TaskReader, { userId }: Task): boolean {
  return isAdmin || userId === id;
}

function toView(task: Task): TaskView {
  const { id, status, startedAt, updatedAt, endedAt, body } = task;
  return {
    id,
    status,
    start: startedAt,
    updatedAt,
    ...(endedAt === undefined ? {} : { end: endedAt }),
    ...(body as object),
  };
}

/** On success it is absent, or an object. */
function toResult(result: unknown): object {
  if (typeof result === "string") return { result: { id: result } };
  return typeof result === "object" && result !== null ? { result } : {};
}

function toFailure(error: Error): object {
  const told = error instanceof XapiError || error instanceof XoError;
  return {
    result: {
      // What nobody foresaw may tell things that a client must not know.
      message: told ? error.message : "internal error",
      name: error.name,
      ...(told ? { code: error.code } : {}),
      ...(error instanceof XapiError ? { params: error.params } : {}),
    },
  };
}
