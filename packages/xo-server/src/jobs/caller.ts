import { XapiError, XoError } from "@xo-server/model";
import type { Clock } from "../clock.js";
import type { Dispatcher } from "../operations/dispatcher.js";
import { onBehalfOf } from "../operations/on-behalf.js";
import type { AuthenticatedUsers } from "../auth/authenticated-users.js";
import type { AuthenticatedUser } from "../auth/authenticated-user.js";
import type { TaskContext } from "../tasks/task-context.js";
import type { CallLog } from "./call-log.js";
import type { Params } from "./params-vector.js";
import { withSignal } from "./with-signal.js";

export interface CallerOptions {
  readonly call: Dispatcher["call"];
  readonly people: Pick<AuthenticatedUsers, "get">;
  readonly clock: Clock;
  readonly job: { readonly id: string; readonly userId?: string };
  readonly work: TaskContext;
  readonly log: CallLog;
  /** Of each call, in ms. */
  readonly timeout?: number | undefined;
  /** The server is about to end: nothing is begun any more. */
  readonly isStopping: () => boolean;
}

/** What does not end by itself when it is given up is left to itself after this, in ms. */
const GRACE_MS = 5_000;

/** Makes the calls of one run, each with the rights that its user has at that moment, and logs them. */
export class Caller {
  readonly #options: CallerOptions;

  constructor(options: CallerOptions) {
    this.#options = options;
  }

  /** Nothing more is to be begun. */
  get isOver(): boolean {
    return this.#options.work.signal.aborted || this.#options.isStopping();
  }

  /** @throws XoError FORBIDDEN: there is no such user any more */
  person(): AuthenticatedUser {
    const { people, job } = this.#options;
    const person =
      job.userId === undefined ? undefined : people.get(job.userId);
    if (person !== undefined) return person;
    throw new XoError("FORBIDDEN", { reason: "the user of the job is gone" });
  }

  /**
   * Calls an operation.
   * @throws XoError, XapiError: what it throws; CALL_TIMEOUT, ABORTED
   */
  call(method: string, params: Params): Promise<unknown> {
    const { call, job } = this.#options;
    return this.step(method, params, (part) =>
      call(method, params, {
        ...onBehalfOf(this.person(), part),
        // The audit log tells by this which job it was.
        address: `job:${job.id}`,
      }),
    );
  }

  /** Anything else that is to be seen in the log of the run. */
  async step<T>(
    method: string,
    params: Params,
    run: (part: TaskContext) => Promise<T>,
  ): Promise<T> {
    const { clock, work, log } = this.#options;
    const start = clock.now();
    const told = () => ({ method, params, start, end: clock.now() });
    let result: T | undefined;
    try {
      await work.part(method, async (part) => {
        result = await this.#within(method, part, run);
      });
    } catch (error) {
      log.fail(told(), error as Error);
      throw error;
    }
    log.succeed(told(), result);
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
    const givenUp = new GivenUp(signal, clock);
    try {
      return await Promise.race([
        run(withSignal(part, signal)),
        givenUp.after(GRACE_MS),
      ]);
    } catch (error) {
      throw late.signal.aborted ? late.signal.reason : error;
    } finally {
      clock.clearTimeout(timer);
      givenUp.stop();
    }
  }
}

/** Rejects some time after a signal was aborted. */
class GivenUp {
  readonly #signal: AbortSignal;
  readonly #clock: Clock;
  #timer: unknown;
  #listener: (() => void) | undefined;

  constructor(signal: AbortSignal, clock: Clock) {
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
