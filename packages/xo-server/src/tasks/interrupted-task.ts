import { XoError } from "@xo-server/model";
import {
  reportInterruption,
  type EndedXapiTask,
} from "./interruption-report.js";
import type { TaskOutcome, XapiTaskWatch } from "./xapi-task-watch.js";
import { XAPI_TASK_KEY, type XapiTask } from "./xapi-task.js";
import type { TaskNode } from "./task-node.js";
import type { TaskContext } from "./task-context.js";

/** What is known about the previous run, for an operation that is resumed. */
export interface InterruptedTask {
  /** Persisted steps by key. */
  readonly steps: ReadonlyMap<string, unknown>;
  /**
   * Waits for the XAPI tasks; tasks that have ended before are returned too.
   * @param part id of a part, whose own parts are included; absent: all parts
   * @param into the task that shows them; absent: the parts in which they were
   * shown before
   */
  awaitOutcomes(
    part?: string,
    into?: TaskContext,
  ): Promise<readonly EndedXapiTask[]>;
}

/** XAPI tasks of a task of the previous run. */
export class InterruptedXapiTasks implements InterruptedTask {
  readonly steps: ReadonlyMap<string, unknown>;
  /** XAPI tasks by the ids of their parts, in the order of their starts. */
  readonly xapiTasks: ReadonlyMap<string, XapiTask>;
  readonly #work: TaskNode;
  readonly #watch: XapiTaskWatch;
  /** By the ids of their parts. The pool does not have these XAPI tasks any more. */
  readonly #known = new Map<string, TaskOutcome>();

  constructor(
    work: TaskNode,
    steps: ReadonlyMap<string, unknown>,
    watch: XapiTaskWatch,
  ) {
    this.steps = steps;
    this.xapiTasks = xapiTasksIn(steps);
    this.#work = work;
    this.#watch = watch;
  }

  awaitOutcomes(
    part?: string,
    into?: TaskContext,
  ): Promise<readonly EndedXapiTask[]> {
    const meant = [...this.xapiTasks].filter(
      ([id]) => part === undefined || id === part || id.startsWith(`${part}.`),
    );
    return Promise.all(
      meant.map(([id, xapiTask]) => {
        const name = `XAPI: ${xapiTask.method}`;
        return into === undefined
          ? this.#awaitInPart(
              this.#work.find(id) ?? this.#work.addPart(name, id),
              id,
              xapiTask,
            )
          : this.#awaitAsNewPart(name, { id, xapiTask }, into);
      }),
    );
  }

  async #outcome(
    id: string,
    xapiTask: XapiTask,
    part: TaskContext,
  ): Promise<TaskOutcome> {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const outcome = await this.#watch.awaitOutcome(xapiTask, part);
    // Another attempt may find out what is not known.
    if (outcome.name !== "unknown") this.#known.set(id, outcome);
    return outcome;
  }

  async #awaitInPart(
    part: TaskNode,
    id: string,
    xapiTask: XapiTask,
  ): Promise<EndedXapiTask> {
    const outcome = await this.#outcome(id, xapiTask, part);
    if (part.status !== "pending") return { xapiTask, outcome };
    const error = errorOf({ xapiTask, outcome });
    if (error === undefined) part.succeed(undefined);
    else if (outcome.name === "failure") part.fail(error);
    else part.interrupt(error);
    return { xapiTask, outcome };
  }

  async #awaitAsNewPart(
    name: string,
    { id, xapiTask }: { readonly id: string; readonly xapiTask: XapiTask },
    into: TaskContext,
  ): Promise<EndedXapiTask> {
    let outcome: TaskOutcome = { name: "not-begun" };
    const run = async (part: TaskContext) => {
      outcome = await this.#outcome(id, xapiTask, part);
      const error = errorOf({ xapiTask, outcome });
      if (error !== undefined) throw error;
    };
    // The subtask shows the failure; the caller reads the outcome.
    await into.part(name, run).catch(() => undefined);
    return { xapiTask, outcome };
  }
}

function errorOf(ended: EndedXapiTask): Error | undefined {
  const { outcome } = ended;
  if (outcome.name === "success") return undefined;
  if (outcome.name === "failure") return outcome.error;
  return new XoError("INTERRUPTED", { reason: reportInterruption([ended]) });
}

function xapiTasksIn(
  steps: ReadonlyMap<string, unknown>,
): ReadonlyMap<string, XapiTask> {
  const xapiTasks: [string, XapiTask][] = [];
  for (const [key, xapiTask] of steps)
    if (key.startsWith(XAPI_TASK_KEY))
      xapiTasks.push([key.slice(XAPI_TASK_KEY.length), xapiTask as XapiTask]);
  return new Map(xapiTasks.sort(([, a], [, b]) => a.begunAt - b.begunAt));
}
