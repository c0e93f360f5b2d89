import {
  CALL_MARK,
  DelegatingXapi,
  type AsyncCallOptions,
  type CallOptions,
  type PutStreamOptions,
  type SendOptions,
  type StreamOptions,
  type Xapi,
} from "@xo-server/xen-api";
import { XoError, type Ref } from "@xo-server/model";
import type { Readable } from "node:stream";
import type { TaskContext } from "./task-context.js";
import { EPOCH_MARK, objectOfParams } from "./xapi-task.js";
import type { XapiTaskLog } from "./xapi-task-log.js";

type WatchOptions = NonNullable<Parameters<Xapi["watchTask"]>[1]>;

/**
 * A pool whose XAPI tasks are parts of a task: their progress is shown in it, they
 * are cancelled with it, and they are found again after a crash of the server.
 * Other calls are passed on unchanged.
 */
export class TrackedXapi extends DelegatingXapi {
  readonly #pool: string;
  readonly #task: TaskContext;

  /** @param pool id of the pool connection */
  constructor(xapi: Xapi, pool: string, task: TaskContext) {
    super(xapi);
    this.#pool = pool;
    this.#task = task;
  }

  override callAsync(
    method: string,
    params?: readonly unknown[],
    options?: AsyncCallOptions,
  ): Promise<unknown> {
    const object = objectOfParams(params);
    return this.#task.runXapiTask(
      `XAPI: ${method}`,
      {
        pool: this.#pool,
        method,
        ...(object === undefined ? {} : { object }),
      },
      (part, log) =>
        this.#send(
          (sending, onAnswer) =>
            this.xapi.callAsync(method, params, {
              ...withPart(part, options),
              ...sending,
              onTask: (ref) => {
                onAnswer();
                log.noteReference(ref);
              },
              keepUntil: log.persisted,
              marks: marksOf(part),
            }),
          log,
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
   * Sends nothing unless this server has the lease on its tasks. Never settles when
   * another server has adopted the task, because that server continues it.
   * @param send must call `onAnswer` when the command was answered, unless it
   * settles then
   * @param log gets the session before the command is sent: the server that adopts the
   * task ends this session, so that a command that arrives late is not executed
   */
  async #send<T>(
    send: (options: SendOptions, onAnswer: () => void) => Promise<T>,
    log?: XapiTaskLog,
  ): Promise<T> {
    const { lease } = this.#task;
    for (;;) {
      let isOtherSession = false;
      try {
        await lease?.untilValid();
        const session = await this.#record(log);
        const check = (used: string) => {
          isOtherSession = session !== undefined && session !== used;
          if (isOtherSession) throw new XoError("ABORTED", { what: "sending" });
        };
        const result = await sendCommand(lease, check, send);
        if (lease?.isLost !== true) return result;
      } catch (error) {
        if (lease?.isLost === true) return new Promise<never>(() => undefined);
        // The lease expired, or the pool was connected again, before anything was sent.
        const isExpired =
          error instanceof XoError && error.code === "LEASE_LOST";
        if (!isOtherSession && !isExpired) throw error;
      }
    }
  }

  /** @returns the session that is recorded, and no other may be used */
  async #record(log: XapiTaskLog | undefined): Promise<string | undefined> {
    if (log === undefined) return undefined;
    const session = await this.xapi.session();
    await log.begin(session);
    return session;
  }

  override call(
    method: string,
    params?: readonly unknown[],
    options?: CallOptions,
  ) {
    return this.#send((sending) =>
      this.xapi.call(method, params, { ...options, ...sending }),
    );
  }

  override getStream(options: StreamOptions) {
    return this.#sendStream(() => this.xapi.getStream(options));
  }

  override putStream(body: Readable, options: PutStreamOptions) {
    return this.#sendStream(() => this.xapi.putStream(body, options));
  }

  /** Its session is not recorded: a stream that has not begun is not sent again. */
  #sendStream<T>(send: () => Promise<T>): Promise<T> {
    return this.#send(({ beforeSend }) => {
      beforeSend?.("");
      return send();
    });
  }
}

/**
 * Sends a command that counts as unanswered until it is answered or fails. A
 * repeated command counts once.
 * @param check throws if the command must not be sent with this session
 */
async function sendCommand<T>(
  lease: TaskContext["lease"],
  check: (session: string) => void,
  send: (options: SendOptions, onAnswer: () => void) => Promise<T>,
): Promise<T> {
  let onAnswer = () => undefined as void;
  const beforeSend = (session: string) => {
    onAnswer();
    check(session);
    if (lease !== undefined) onAnswer = lease.beginCommand();
  };
  try {
    return await send({ beforeSend }, () => {
      onAnswer();
    });
  } finally {
    onAnswer();
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
