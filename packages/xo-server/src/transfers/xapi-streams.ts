import type { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { XapiError, XoError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import { destroyEndedTask } from "../tasks/destroy-ended-task.js";
import { dropTask } from "../tasks/drop-task.js";
import type { Source, TransferTask } from "./transfer.js";

/** A stream handler of XAPI, and the label of its task. */
export interface Handler {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly label: string;
}

/** Time to wait for the reason in the task of a failed stream, in ms. */
const REASON_WITHIN_MS = 2_000;

/**
 * Time to wait for XAPI's task to end after the last byte, in ms. A truncated
 * export ends like a complete one; only the task distinguishes them.
 */
const END_WITHIN_MS = 15_000;

async function lostIn(ms: number, method: string): Promise<never> {
  await pause(ms, undefined, { ref: false });
  const reason = "the end of the data was not confirmed";
  throw new XoError("TASK_LOST", { method, reason });
}

/** @throws XapiError of the handler's task; XoError of the connection */
export async function openXapiStream(
  xapi: Xapi,
  { path, query, label }: Handler,
  work: TransferTask,
): Promise<Omit<Source, "type">> {
  const task = await startTask(xapi, label, work);
  try {
    const { signal } = task;
    const stream = { path, query, task: task.ref, signal };
    const { body } = await xapi.getStream(stream);
    return {
      body,
      finished: async () => {
        try {
          await Promise.race([task.result, lostIn(END_WITHIN_MS, label)]);
        } catch (error) {
          throw await task.reasonFor(error);
        }
      },
    };
  } catch (error) {
    throw await task.reasonFor(error);
  }
}

interface UploadRequest extends Handler {
  readonly body: Readable;
  /** Bytes; if absent, the body ends with the connection. */
  readonly length: number | undefined;
  /** Type of the handler's result, as in XAPI's data model. */
  readonly resultType?: string;
}

/**
 * @returns the result of the handler's task
 * @throws XapiError of the task; XoError of the connection, ABORTED
 */
export async function sendToXapi(
  xapi: Xapi,
  { path, query, label, body, length, resultType }: UploadRequest,
  work: TransferTask,
): Promise<unknown> {
  const task = await startTask(xapi, label, work, resultType);
  try {
    const { signal } = task;
    await xapi.putStream(body, {
      path,
      query,
      task: task.ref,
      signal,
      ...(length === undefined ? {} : { contentLength: length }),
    });
    return await task.result;
  } catch (error) {
    if (!isConnectionLost(error)) throw await task.reasonFor(error);
    // XAPI closes the connection when it has read what it needs; bytes that were not sent are not
    // required.
    return task.resultDespite(error).catch((reason: unknown) => {
      throw isEndOfData(reason) && !body.readableEnded ? error : reason;
    });
  }
}

/** Of a connection that breaks XAPI reports only that the data ended, as of an incomplete file. */
function isEndOfData(reason: unknown): boolean {
  return (
    reason instanceof XapiError &&
    (reason.code === "IMPORT_ERROR_PREMATURE_EOF" ||
      reason.params.includes("End_of_file"))
  );
}

/**
 * Runs a transfer that another process performs as a XAPI task; both have to
 * succeed.
 * @param work.description of the XAPI task: by it, a later process finds and deletes it. Default: none
 * @param transfer receives the reference of the task
 * @throws XapiError of the task where the transfer was cut; errors of `transfer`
 */
export async function withStreamTask(
  xapi: Xapi,
  label: string,
  work: Pick<TransferTask, "signal" | "progress"> & {
    readonly description?: string | undefined;
  },
  transfer: (task: Ref) => Promise<void>,
): Promise<void> {
  const task = await startTask(xapi, label, work);
  try {
    await transfer(task.ref);
  } catch (error) {
    const reason = await task.reasonFor(error);
    // Otherwise the task failed as a consequence of the error on our side, which says more.
    const isOfPool = error instanceof XoError && OF_POOL.has(error.code);
    throw isOfPool ? reason : error;
  }
  await Promise.race([task.result, lostIn(END_WITHIN_MS, label)]);
}

/** Errors of another process whose cause may be that of the pool. */
const OF_POOL: ReadonlySet<string> = new Set([
  "BACKUP_TRANSFER_FAILED",
  "DISK_CONVERSION_FAILED",
]);

function isConnectionLost(error: unknown): boolean {
  return error instanceof XoError && error.code === "CONNECTION_LOST";
}

interface StreamTask {
  readonly ref: Ref;
  readonly signal: AbortSignal;
  readonly result: Promise<unknown>;
  /** Ends the task. @returns the error of the task if it has one, else the given error */
  reasonFor(error: unknown): Promise<unknown>;
  /**
   * The result of the task after its connection was lost.
   * @throws the error of the task; `error` if the task has not ended within 15 s
   */
  resultDespite(error: unknown): Promise<unknown>;
}

/** Handlers respond 200 before they start: later errors are only in their task. */
async function startTask(
  xapi: Xapi,
  label: string,
  work: Pick<TransferTask, "signal" | "progress"> & {
    readonly description?: string | undefined;
  },
  resultType = "",
): Promise<StreamTask> {
  const { description = "" } = work;
  const ref = (await xapi.call("task.create", [label, description])) as Ref;
  const ended = new AbortController();
  const signal = AbortSignal.any([work.signal, ended.signal]);
  const result = xapi
    .watchTask(ref, {
      signal,
      resultType,
      onProgress: (fraction) => {
        work.progress(fraction);
      },
    })
    .catch((error: unknown) => {
      throw unwrap(error);
    });
  // The caller gets the error from `result`. A handler that was not started does not end the task.
  void result.then(
    () => destroyEndedTask(xapi, ref),
    () => dropTask(xapi, ref),
  );
  return {
    ref,
    signal,
    result,
    async reasonFor(error) {
      const cause = await Promise.race([
        result.then(
          () => undefined,
          (reason: unknown) => reason,
        ),
        work.signal.aborted ? undefined : pause(REASON_WITHIN_MS),
      ]);
      ended.abort();
      return cause instanceof XapiError ? cause : error;
    },
    async resultDespite(error) {
      try {
        return await Promise.race([
          result,
          pause(END_WITHIN_MS, undefined, { signal, ref: false }).then(() => {
            throw error;
          }),
        ]);
      } catch (reason) {
        ended.abort();
        throw reason instanceof XapiError ? reason : error;
      }
    },
  };
}

/**
 * XAPI wraps errors of a handler in RBAC_PERMISSION_DENIED: `UUID_INVALID: [ VM;
 * 0000 ]` is the second parameter.
 */
function unwrap(error: unknown): unknown {
  if (!(error instanceof XapiError)) return error;
  const [what = "", inner = ""] = error.params;
  const isWrapped =
    error.code === "RBAC_PERMISSION_DENIED" && what.startsWith("http/");
  const [, code, params] = /^([A-Z0-9_]+): \[ ?(.*?) ?\]$/s.exec(inner) ?? [];
  if (!isWrapped || code === undefined) return error;
  return new XapiError(code, params === "" ? [] : params!.split("; "));
}
