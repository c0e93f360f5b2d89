import type { WallClock } from "@xo-server/kit";
import { XapiError, XoError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { Pools } from "../pools/pools.js";
import { destroyEndedTask } from "./destroy-ended-task.js";
import { EndedSessions } from "./ended-sessions.js";
import { findXapiTask, type FoundXapiTask } from "./find-xapi-task.js";
import {
  toXapiTaskEnd,
  toXapiTaskSuccess,
  XAPI_TASK_KEY,
  type XapiTask,
  type XapiTaskEnd,
} from "./xapi-task.js";
import { readGoalState, type GoalState } from "./power-state-goal.js";
import { pause } from "./pause.js";
import type { StepJournal } from "./step-journal.js";
import type { TaskContext } from "./task-context.js";

/** Outcome of a XAPI task that was running when the server crashed. */
export type TaskOutcome =
  | {
      readonly name: "success";
      /** What the call has returned, if that is known and the reference of an object. */
      readonly result?: Ref;
    }
  | { readonly name: "failure"; readonly error: Error }
  /** The call never reached the pool. */
  | { readonly name: "not-begun" }
  | { readonly name: "unknown"; readonly reason: string };

interface XapiTaskWatchOptions {
  readonly pools: Pick<Pools, "xapi" | "listSummaries">;
  readonly steps: Pick<StepJournal, "openSecret">;
  readonly clock: WallClock;
}

/** Interval of the checks whether a pool is connected, in ms. */
const POLL_MS = 200;

/** Finds the XAPI tasks of the previous run of the server, and waits for their ends. */
export class XapiTaskWatch {
  readonly #options: XapiTaskWatchOptions;
  /** Calls of the XAPI tasks of the previous run, by the references of these. */
  readonly #known = new Map<Ref, XapiTask["call"]>();
  readonly #sessions: EndedSessions;

  constructor(options: XapiTaskWatchOptions) {
    this.#options = options;
    this.#sessions = new EndedSessions(options.clock);
  }

  /** Adds XAPI tasks of the previous run, so that they are not mistaken for others. */
  addKnown(xapiTasks: Iterable<XapiTask>): void {
    for (const { ref, call } of xapiTasks)
      if (ref !== undefined) this.#known.set(ref, call);
  }

  /**
   * Waits for the pool, and for the end of the XAPI task.
   * @param part shows its progress; when the part is aborted, the XAPI task is
   * cancelled
   */
  async awaitOutcome(
    xapiTask: XapiTask,
    part: TaskContext,
  ): Promise<TaskOutcome> {
    if (xapiTask.ended !== undefined)
      return toOutcome(xapiTask.ended, xapiTask);
    const xapi = await this.#connected(xapiTask.pool, part.signal);
    if (typeof xapi === "string") return { name: "unknown", reason: xapi };
    if (xapiTask.ref !== undefined)
      return this.#follow(xapi, { ...xapiTask, ref: xapiTask.ref }, part);
    const found = await this.#find(xapi, xapiTask, part.signal);
    if (typeof found === "string") return { name: "unknown", reason: found };
    if ("ref" in found) {
      this.#known.set(found.ref, xapiTask.call);
      return this.#follow(xapi, { ...xapiTask, ref: found.ref }, part);
    }
    return judge(found, xapiTask, await readGoalState(xapi, xapiTask));
  }

  /**
   * Searches the XAPI task, and once more after its session was logged out, so that no delayed
   * request can still create it.
   * @returns a text: why the outcome is unknown
   */
  async #find(
    xapi: Xapi,
    xapiTask: XapiTask,
    signal: AbortSignal,
  ): Promise<FoundXapiTask | string> {
    const find = () =>
      findXapiTask(xapi, xapiTask, this.#knownOfOthers(xapiTask));
    const found = await find();
    const { session: sealed = "" } = xapiTask;
    // A call of an earlier version of the server.
    if ("ref" in found || sealed === "") return found;
    const session = this.#options.steps.openSecret(sealed);
    const reason =
      session === undefined
        ? "it was encrypted with another key"
        : await this.#sessions.end(xapi, session, signal);
    return reason === undefined
      ? find()
      : `the pool has no task of it, but its session could not be ended, so that its request may still arrive: ${reason}`;
  }

  /** A call that is recovered once more, because the lease was lost meanwhile, finds the same XAPI task. */
  #knownOfOthers({ call }: XapiTask): ReadonlySet<Ref> {
    const others = [...this.#known].filter(
      ([, other]) => other === undefined || other !== call,
    );
    return new Set(others.map(([ref]) => ref));
  }

  /** @returns the client, or why the pool will not be connected */
  async #connected(pool: string, signal: AbortSignal): Promise<Xapi | string> {
    const { pools, clock } = this.#options;
    while (!signal.aborted) {
      if (!pools.listSummaries().some(({ id }) => id === pool))
        return `the pool ${pool} is not there any more`;
      try {
        const xapi = pools.xapi(pool);
        if (xapi.state.name === "connected") return xapi;
      } catch {
        // The connection is being created.
      }
      await pause(clock, POLL_MS, signal);
    }
    return `it was aborted while the pool ${pool} was disconnected`;
  }

  async #follow(
    xapi: Xapi,
    xapiTask: XapiTask & { readonly ref: Ref },
    part: TaskContext,
  ): Promise<TaskOutcome> {
    const { ref, isStream } = xapiTask;
    // The connection of a stream is lost, so its remaining data is neither sent nor read.
    const signal = isStream === true ? AbortSignal.abort() : part.signal;
    const onProgress = (fraction: number) => {
      part.progress(fraction);
    };
    let result: unknown;
    try {
      result = await xapi.watchTask(ref, { signal, onProgress });
    } catch (error) {
      if (error instanceof XoError && error.code === "TASK_LOST") {
        const { text } = await readGoalState(xapi, xapiTask);
        const reason = `the pool no longer has its task${text}`;
        return { name: "unknown", reason };
      }
      if (error instanceof XoError && error.code === "CLOSED") throw error;
      const ended = toXapiTaskEnd(error as Error);
      await this.#settle(xapi, { ...xapiTask, ended }, part);
      return { name: "failure", error: error as Error };
    }
    const ended = toXapiTaskSuccess(result);
    await this.#settle(xapi, { ...xapiTask, ended }, part);
    return toOutcome(ended, xapiTask);
  }

  /**
   * Persists the end of a XAPI task before it is destroyed: a server that adopts the task after
   * this one would otherwise find neither, and repeat the call.
   */
  async #settle(
    xapi: Xapi,
    xapiTask: XapiTask & { readonly ref: Ref },
    part: TaskContext,
  ): Promise<void> {
    // Steps of an earlier version do not name the call.
    if (xapiTask.call !== undefined)
      await part.persistStep(`${XAPI_TASK_KEY}${xapiTask.call}`, xapiTask);
    void destroyEndedTask(xapi, xapiTask.ref);
  }
}

function toOutcome(ended: XapiTaskEnd, { method }: XapiTask): TaskOutcome {
  if (ended.status === "success") {
    const { result } = ended;
    return { name: "success", ...(result === undefined ? {} : { result }) };
  }
  const { xapi, message } = ended;
  if (xapi === undefined) return { name: "unknown", reason: message };
  const [code, ...params] = xapi;
  return { name: "failure", error: new XapiError(code, params, method) };
}

/**
 * The outcome of a call whose task cannot be distinguished from others, by the
 * state of its object. Only decided if one of these tasks has succeeded, or if none
 * is pending.
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
