import {
  CALL_MARK,
  type AsyncCallOptions,
  type Xapi,
} from "@xo-server/xen-api";
import type { Ref } from "@xo-server/model";
import { FencedXapi } from "./fenced-xapi.js";
import type { TaskContext } from "./task-context.js";
import { EPOCH_MARK, objectOfParams } from "./xapi-task.js";
import type { XapiTaskLog } from "./xapi-task-log.js";

type WatchOptions = NonNullable<Parameters<Xapi["watchTask"]>[1]>;

/**
 * A pool whose XAPI tasks are parts of a task: their progress is shown in it, they
 * are cancelled with it, and they are found again after a crash of the server.
 * Other calls are passed on unchanged.
 */
export class TrackedXapi extends FencedXapi {
  readonly #pool: string;
  readonly #task: TaskContext;

  /** @param pool id of the pool connection */
  constructor(xapi: Xapi, pool: string, task: TaskContext) {
    super(xapi, task.lease, () => task.isPatient === true);
    this.#pool = pool;
    this.#task = task;
  }

  override callAsync(
    method: string,
    params?: readonly unknown[],
    options?: AsyncCallOptions,
  ): Promise<unknown> {
    // Before this call is a part of the task itself.
    const { isPatient } = this;
    const object = objectOfParams(params);
    return this.#task.runXapiTask(
      `XAPI: ${method}`,
      {
        pool: this.#pool,
        method,
        ...(object === undefined ? {} : { object }),
      },
      (part, log) =>
        this.send(
          (sending, onAnswer) =>
            this.xapi.callAsync(method, params, {
              ...withPart(part, options),
              ...sending,
              isPatient,
              onUnanswered: (via) => {
                part.warn(
                  `no answer, and the pool is reached through ${via} now: the request may have been lost. It is waited for, at most two minutes, as it may still arrive`,
                );
              },
              onTask: (ref) => {
                onAnswer();
                log.noteReference(ref);
              },
              keepUntil: log.persisted,
              marks: marksOf(part),
            }),
          () => this.#record(log, { method, isPatient }),
        ),
    );
  }

  override watchTask(task: Ref, options?: WatchOptions): Promise<unknown> {
    const method = "a transfer";
    return this.#task.runXapiTask(
      `XAPI: ${method}`,
      { pool: this.#pool, method, ref: task, isStream: true },
      async (part, log) => {
        await log.begin();
        return this.xapi.watchTask(task, withPart(part, options));
      },
    );
  }

  /**
   * Records the session before the command is sent: the server that adopts the task ends this
   * session, so that a command that arrives late is not executed.
   * @returns the session; no other may be used
   */
  async #record(
    log: XapiTaskLog,
    call: Parameters<Xapi["session"]>[0],
  ): Promise<string> {
    const session = await this.xapi.session(call);
    await log.begin(session);
    return session;
  }
}

/** Marks by which a server that adopts the task finds its XAPI task. */
function marksOf({ taskId, lease }: TaskContext): Record<string, string> {
  // Without the id of the part, other calls would have the same marks.
  if (taskId === undefined) return {};
  return {
    [CALL_MARK]: taskId,
    ...(lease === undefined ? {} : { [EPOCH_MARK]: String(lease.fence.epoch) }),
  };
}

/** Adds the signal and the progress of the part to the options of a call. */
function withPart(part: TaskContext, options: WatchOptions = {}): WatchOptions {
  const { signal, onProgress } = options;
  return {
    ...options,
    signal: whileHeld(
      signal === undefined
        ? part.signal
        : AbortSignal.any([signal, part.signal]),
      part.lease,
    ),
    onProgress(fraction) {
      part.progress(fraction);
      onProgress?.(fraction);
    },
  };
}

/** A task that another server has adopted is not cancelled from here. */
function whileHeld(
  signal: AbortSignal,
  lease: TaskContext["lease"],
): AbortSignal {
  if (lease === undefined) return signal;
  const held = new AbortController();
  const onAbort = () => {
    if (!lease.isLost) held.abort(signal.reason);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return held.signal;
}
