import { XoError } from "@xo-server/model";
import {
  reportInterruption,
  type EndedXapiTask,
} from "./interruption-report.js";
import type { TaskOutcome, XapiTaskWatch } from "./xapi-task-watch.js";
import { XAPI_TASK_KEY, type XapiTask } from "./xapi-task.js";
import type { TaskNode } from "./task-node.js";
import type { TaskContext } from "./task-context.js";

/** What is known of the last run, for an operation that goes on. */
export interface InterruptedTask {
  /** What was kept in small pieces, by key. */
  readonly steps: ReadonlyMap<string, unknown>;
  /**
   * Waits for what pools still do; what they have ended is told as well.
   * @param part id of the part that is meant, with its parts; absent: all
   * @param into where its flights show; absent: where they did
   */
  awaitOutcomes(
    part?: string,
    into?: TaskContext,
  ): Promise<readonly EndedXapiTask[]>;
}

/** Flights of a task of the last run. */
export class InterruptedXapiTasks implements InterruptedTask {
  readonly steps: ReadonlyMap<string, unknown>;
  /** By the ids of the parts that they are, the first begun first. */
  readonly xapiTasks: ReadonlyMap<string, XapiTask>;
  readonly #work: TaskNode;
  readonly #watch: XapiTaskWatch;

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
      meant.map(([id, flight]) => {
        const name = `XAPI: ${flight.method}`;
        return into === undefined
          ? this.#awaitInPart(
              this.#work.find(id) ?? this.#work.addPart(name, id),
              flight,
            )
          : this.#awaitAsNewPart(name, flight, into);
      }),
    );
  }

  async #awaitInPart(part: TaskNode, flight: XapiTask): Promise<EndedXapiTask> {
    const outcome = await this.#watch.awaitOutcome(flight, part);
    if (part.status !== "pending") return { xapiTask: flight, outcome };
    const error = errorOf({ xapiTask: flight, outcome });
    if (error === undefined) part.succeed(undefined);
    else if (outcome.name === "failure") part.fail(error);
    else part.interrupt(error);
    return { xapiTask: flight, outcome };
  }

  async #awaitAsNewPart(
    name: string,
    flight: XapiTask,
    into: TaskContext,
  ): Promise<EndedXapiTask> {
    let outcome: TaskOutcome = { name: "not-begun" };
    const run = async (part: TaskContext) => {
      outcome = await this.#watch.awaitOutcome(flight, part);
      const error = errorOf({ xapiTask: flight, outcome });
      if (error !== undefined) throw error;
    };
    await into.part(name, run).catch(() => undefined);
    return { xapiTask: flight, outcome };
  }
}

function errorOf(landed: EndedXapiTask): Error | undefined {
  const { outcome } = landed;
  if (outcome.name === "success") return undefined;
  if (outcome.name === "failure") return outcome.error;
  return new XoError("INTERRUPTED", { reason: reportInterruption([landed]) });
}

function xapiTasksIn(
  steps: ReadonlyMap<string, unknown>,
): ReadonlyMap<string, XapiTask> {
  const flights: [string, XapiTask][] = [];
  for (const [key, flight] of steps)
    if (key.startsWith(XAPI_TASK_KEY))
      flights.push([key.slice(XAPI_TASK_KEY.length), flight as XapiTask]);
  return new Map(flights.sort(([, a], [, b]) => a.begunAt - b.begunAt));
}
