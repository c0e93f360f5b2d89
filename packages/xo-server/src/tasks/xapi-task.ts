import { XapiError, type Ref } from "@xo-server/model";

/** What a pool is about to do for a piece of work. */
export interface XapiTaskSubject {
  /** Id of the pool. */
  readonly pool: string;
  /** As XAPI calls it: `VM.start`; of a stream, what its task is called. */
  readonly method: string;
  /** What it is done to, where the first parameter says so. */
  readonly object?: Ref;
  /** A task that is there already. */
  readonly ref?: Ref;
  /** It ends with the connection that this server has: nobody goes on with it. */
  readonly isStream?: boolean;
}

/** A task of a pool that work waits for, as it is written down. */
export interface XapiTask extends XapiTaskSubject {
  /** Milliseconds since the epoch. */
  readonly begunAt: number;
  /** Absent: the pool has not told it, and has perhaps not been asked. */
  readonly ref?: Ref;
  /** Absent: under way. */
  readonly ended?: XapiTaskEnd;
}

export type XapiTaskEnd =
  | { readonly status: "success" }
  | {
      readonly status: "failure";
      /** As the pool said it; absent: it was not the pool. */
      readonly xapi?: readonly [code: string, ...params: string[]];
      readonly message: string;
    };

export function toXapiTaskEnd(error: Error): XapiTaskEnd {
  const { message } = error;
  return error instanceof XapiError
    ? { status: "failure", message, xapi: [error.code, ...error.params] }
    : { status: "failure", message };
}

/** Key of a step: what comes after it is the id of the part that the flight is. */
export const XAPI_TASK_KEY = "flight/";

/** The first parameter of most methods is what they are done to. */
export function objectOfParams(
  params: readonly unknown[] = [],
): Ref | undefined {
  const [first] = params;
  return typeof first === "string" && first.startsWith("OpaqueRef:")
    ? first
    : undefined;
}
