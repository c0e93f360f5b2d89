import { XapiError, type Ref } from "@xo-server/model";

/** A XAPI task that is about to be started. */
export interface XapiTaskSubject {
  /** Id of the pool. */
  readonly pool: string;
  /** XAPI's method, such as `VM.start`; of a stream, the label of its task. */
  readonly method: string;
  /** The object, if the first parameter is an object. */
  readonly object?: Ref;
  /** Reference of a task that exists already. */
  readonly ref?: Ref;
  /** Whether it is a stream, which ends with the connection and is not resumed. */
  readonly isStream?: boolean;
}

/** A XAPI task that a task waits for, as it is persisted. */
export interface XapiTask extends XapiTaskSubject {
  /**
   * Identifies the call; the other_config of its XAPI task contains it. Absent:
   * written by an earlier version.
   */
  readonly call?: string;
  /** Milliseconds since the epoch. */
  readonly begunAt: number;
  /** The reference of the session of the call, encrypted. Absent: of an earlier version. */
  readonly session?: string;
  /** Absent: not known; the call may not have reached the pool. */
  readonly ref?: Ref;
  /** Absent: it is running. */
  readonly ended?: XapiTaskEnd;
}

export type XapiTaskEnd =
  | {
      readonly status: "success";
      /** What the call has returned, if that is the reference of an object. Absent also in steps of earlier versions. */
      readonly result?: Ref;
    }
  | {
      readonly status: "failure";
      /** XAPI's error; absent: the error has another source. */
      readonly xapi?: readonly [code: string, ...params: string[]];
      readonly message: string;
    };

/** @param result of a call that started or followed the XAPI task */
export function toXapiTaskSuccess(result: unknown): XapiTaskEnd {
  return isReference(result)
    ? { status: "success", result }
    : { status: "success" };
}

/** @param error of a call that started or followed the XAPI task */
export function toXapiTaskEnd(error: Error): XapiTaskEnd {
  const { message } = error;
  return error instanceof XapiError
    ? { status: "failure", message, xapi: [error.code, ...error.params] }
    : { status: "failure", message };
}

/** Key in other_config of XAPI tasks: the epoch of the lease under which the task was started. Beside it, CALL_MARK has the part of our task. */
export const EPOCH_MARK = "xo-epoch";

/**
 * Prefix of the key of a persisted step; the id of the part follows. Databases
 * hold it: it must not change.
 */
export const XAPI_TASK_KEY = "flight/";

/** The first parameter of most methods is the object. */
export function objectOfParams(
  params: readonly unknown[] = [],
): Ref | undefined {
  const [first] = params;
  return isReference(first) ? first : undefined;
}

function isReference(value: unknown): value is Ref {
  return typeof value === "string" && value.startsWith("OpaqueRef:");
}
