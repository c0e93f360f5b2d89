import { XapiError, XoError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { Clock } from "../clock.js";
import type { Pools } from "../pools/pools.js";
import { findXapiTask, type FoundXapiTask } from "./find-xapi-task.js";
import type { XapiTask, XapiTaskEnd } from "./xapi-task.js";
import { readGoalState, type GoalState } from "./power-state-goal.js";
import { pause } from "./pause.js";
import type { TaskContext } from "./task-context.js";

/** What became of a task of a pool that was in flight when the server died. */
export type TaskOutcome =
  | { readonly name: "success" }
  | { readonly name: "failure"; readonly error: Error }
  /** The pool was never asked. */
  | { readonly name: "not-begun" }
  | { readonly name: "unknown"; readonly reason: string };

export interface XapiTaskWatchOptions {
  readonly pools: Pick<Pools, "xapi" | "list">;
  readonly clock: Clock;
}

/** Between two looks whether a pool is connected, in ms. */
const LOOK_MS = 200;

/** Finds again what pools do for work of this server's last run, and waits for its end. */
export class XapiTaskWatch {
  readonly #options: XapiTaskWatchOptions;
  /** References that flights of the last run have. */
  readonly #known = new Set<string>();

  constructor(options: XapiTaskWatchOptions) {
    this.#options = options;
  }

  /** They are of the last run. */
  addKnown(flights: Iterable<XapiTask>): void {
    for (const { ref } of flights) if (ref !== undefined) this.#known.add(ref);
  }

  /**
   * Waits for its pool, and for its end.
   * @param part its progress is the flight's; when it is aborted, the pool cancels
   */
  async awaitOutcome(
    flight: XapiTask,
    part: TaskContext,
  ): Promise<TaskOutcome> {
    if (flight.ended !== undefined) return toOutcome(flight.ended, flight);
    const xapi = await this.#connected(flight.pool, part.signal);
    if (typeof xapi === "string") return { name: "unknown", reason: xapi };
    if (flight.ref !== undefined)
      return this.#follow(xapi, { ...flight, ref: flight.ref }, part);
    const found = await findXapiTask(xapi, flight, this.#known);
    if ("ref" in found) {
      this.#known.add(found.ref);
      return this.#follow(xapi, { ...flight, ref: found.ref }, part);
    }
    return judge(found, flight, await readGoalState(xapi, flight));
  }

  /** @returns why it will not be */
  async #connected(pool: string, signal: AbortSignal): Promise<Xapi | string> {
    const { pools, clock } = this.#options;
    while (!signal.aborted) {
      if (!pools.list().some(({ id }) => id === pool))
        return `the pool ${pool} is not there any more`;
      try {
        const xapi = pools.xapi(pool);
        if (xapi.state.name === "connected") return xapi;
      } catch {
        // It is being made.
      }
      await pause(clock, LOOK_MS, signal);
    }
    return `it was given up while the pool ${pool} was not connected`;
  }

  async #follow(
    xapi: Xapi,
    flight: XapiTask & { readonly ref: Ref },
    part: TaskContext,
  ): Promise<TaskOutcome> {
    const { ref, isStream } = flight;
    // Its connection is gone, and nobody will send or read the rest.
    const signal = isStream === true ? AbortSignal.abort() : part.signal;
    const onProgress = (fraction: number) => {
      part.progress(fraction);
    };
    try {
      await xapi.watchTask(ref, { signal, onProgress });
      forget(xapi, ref);
      return { name: "success" };
    } catch (error) {
      if (error instanceof XoError && error.code === "TASK_LOST") {
        const { text } = await readGoalState(xapi, flight);
        const reason = `the pool knows its task no more${text}`;
        return { name: "unknown", reason };
      }
      if (error instanceof XoError && error.code === "CLOSED") throw error;
      forget(xapi, ref);
      return { name: "failure", error: error as Error };
    }
  }
}

function toOutcome(ended: XapiTaskEnd, { method }: XapiTask): TaskOutcome {
  if (ended.status === "success") return { name: "success" };
  const { xapi, message } = ended;
  if (xapi === undefined) return { name: "unknown", reason: message };
  const [code, ...params] = xapi;
  return { name: "failure", error: new XapiError(code, params, method) };
}

/**
 * What became of a call whose task cannot be told from others: its object shows
 * it, where such a task has ended well, or where none is still under way.
 */
function judge(
  { count, pending, succeeded }: Exclude<FoundXapiTask, { readonly ref: Ref }>,
  { method }: XapiTask,
  { text, isReached }: GoalState,
): TaskOutcome {
  if (count === 0) return { name: "not-begun" };
  if (isReached === true && succeeded > 0) return { name: "success" };
  if (isReached === false && pending === 0) return { name: "not-begun" };
  const reason = `the pool has ${count} tasks of ${method} of that time that it may be${text}`;
  return { name: "unknown", reason };
}

/** A task that has ended is of no use to anybody. */
function forget(xapi: Xapi, ref: Ref): void {
  xapi.call("task.destroy", [ref]).catch(() => undefined);
}
