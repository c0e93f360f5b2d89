import type { WallClock } from "@xo-server/kit";
import { XapiError, XoError } from "@xo-server/model";
import type { Dispatcher } from "../operations/dispatcher.js";
import { onBehalfOf } from "../operations/on-behalf.js";
import type { AuthenticatedUsers } from "../auth/users/authenticated-users.js";
import type { AuthenticatedUser } from "../auth/users/authenticated-user.js";
import type { TaskContext } from "../tasks/task-context.js";
import type { CallLog } from "./call-log.js";
import type { Params } from "./params-vector.js";
import { withSignal } from "../tasks/with-signal.js";

export interface CallerOptions {
  readonly call: Dispatcher["call"];
  readonly users: Pick<AuthenticatedUsers, "get">;
  readonly clock: WallClock;
  readonly job: { readonly id: string; readonly userId?: string };
  readonly work: TaskContext;
  readonly log: CallLog;
  /** Timeout of each call, in ms. */
  readonly timeout?: number | undefined;
  /** Whether the server is shutting down, so that no more calls are started. */
  readonly isStopping: () => boolean;
}

/** Time in which an aborted call can end by itself, in ms. */
const GRACE_MS = 5_000;

/**
 * Makes the calls of a run with the current rights of its user, and logs them.
 */
export class RunCaller {
  readonly #options: CallerOptions;

  constructor(options: CallerOptions) {
    this.#options = options;
  }

  /** Whether no more calls may be started. */
  get isOver(): boolean {
    return this.#options.work.signal.aborted || this.#options.isStopping();
  }

  /** @throws XoError FORBIDDEN: the user was deleted */
  user(): AuthenticatedUser {
    const { users, job } = this.#options;
    const user = job.userId === undefined ? undefined : users.get(job.userId);
    if (user !== undefined) return user;
    throw new XoError("FORBIDDEN", {
      reason: "the user of the job was deleted",
    });
  }

  /**
   * Calls an operation.
   * @throws XoError, XapiError: errors of the operation; CALL_TIMEOUT, ABORTED
   */
  call(method: string, params: Params): Promise<unknown> {
    const { call, job } = this.#options;
    return this.step(method, params, (part) =>
      call(method, params, {
        ...onBehalfOf(this.user(), part),
        // Identifies the job in the audit log.
        address: `job:${job.id}`,
        waitsForStore: true,
      }),
    );
  }

  /** Adds another kind of step to the log of the run. */
  async step<T>(
    method: string,
    params: Params,
    run: (part: TaskContext) => Promise<T>,
  ): Promise<T> {
    const { clock, work, log } = this.#options;
    const start = clock.now();
    const entry = () => ({ method, params, start, end: clock.now() });
    let result: T | undefined;
    try {
      await work.part(method, async (part) => {
        result = await this.#within(method, part, run);
      });
    } catch (error) {
      log.fail(entry(), error as Error);
      throw error;
    }
    log.succeed(entry(), result);
    return result as T;
  }

  async #within<T>(
    method: string,
    part: TaskContext,
    run: (part: TaskContext) => Promise<T>,
  ): Promise<T> {
    const { clock, timeout, work } = this.#options;
    const late = new AbortController();
    const timer =
      timeout === undefined
        ? undefined
        : clock.setTimeout(() => {
            late.abort(new XoError("CALL_TIMEOUT", { method, ms: timeout }));
          }, timeout);
    const signal = AbortSignal.any([work.signal, late.signal]);
    const deadline = new AbortDeadline(signal, clock);
    try {
      return await Promise.race([
        run(withSignal(part, signal)),
        deadline.after(GRACE_MS),
      ]);
    } catch (error) {
      throw late.signal.aborted ? late.signal.reason : error;
    } finally {
      clock.clearTimeout(timer);
      deadline.stop();
    }
  }
}

/** Rejects some time after a signal was aborted. */
class AbortDeadline {
  readonly #signal: AbortSignal;
  readonly #clock: WallClock;
  #timer: unknown;
  #listener: (() => void) | undefined;

  constructor(signal: AbortSignal, clock: WallClock) {
    this.#signal = signal;
    this.#clock = clock;
  }

  after(ms: number): Promise<never> {
    return new Promise((_, reject) => {
      this.#listener = () => {
        this.#timer = this.#clock.setTimeout(() => {
          reject(toError(this.#signal.reason));
        }, ms);
      };
      if (this.#signal.aborted) this.#listener();
      else
        this.#signal.addEventListener("abort", this.#listener, { once: true });
    });
  }

  stop(): void {
    this.#clock.clearTimeout(this.#timer);
    if (this.#listener !== undefined)
      this.#signal.removeEventListener("abort", this.#listener);
  }
}

function toError(reason: unknown): Error {
  return reason instanceof XoError || reason instanceof XapiError
    ? reason
    : new XoError("ABORTED", { what: "the call" });
}
