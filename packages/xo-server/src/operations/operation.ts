import type { Static, TObject, TSchema } from "typebox";
import type { PoolObjects } from "../objects/pool-objects.js";
import type { AuthenticatedUser } from "../auth/users/authenticated-user.js";
import type { InterruptedTask } from "../tasks/interrupted-task.js";
import type { EndedXapiTask } from "../tasks/interruption-report.js";
import type { TaskContext } from "../tasks/task-context.js";
import type { Client } from "../auth/sessions/client.js";
import type { RestRoute } from "./rest-route.js";
import type { Action } from "../rights/actions.js";
import type { SpanContext } from "../telemetry/trace-context.js";
import type { StartedTask } from "./started-task.js";

/**
 * Permission levels; each includes the previous ones. A `guest` is anonymous and
 * reads what a sign-in page needs. A `viewer` is an anonymous client of the demo,
 * who also reads pools and objects. A `user` has signed in and may read the objects
 * that the user's rights allow. An `operator` may operate all objects.
 */
export const permissions = [
  "none",
  "guest",
  "viewer",
  "user",
  "operator",
  "admin",
] as const;
export type Permission = (typeof permissions)[number];

/** Requires a right on one object, which the parameters name. */
export interface ObjectPermission {
  readonly action: Action;
  /** Type of the object, such as `VM`; `*`: any. */
  readonly resource: string;
  /** Returns the id of the object from the validated parameters. */
  readonly id: (params: never) => string;
}

/** The caller and its address. */
export interface CallContext {
  /** Absent: anonymous. */
  readonly user?: AuthenticatedUser | undefined;
  readonly permission: Permission;
  /** The connection that notifications are sent to. */
  readonly client: Client;
  /**
   * IP address of the client, without a port. For calls by the server itself, its
   * component: `job:<id>`, `balancer`.
   */
  readonly address: string;
  /** The task that the call reports to; absent: no client follows it. */
  readonly task?: TaskContext;
  /** Called when the call was admitted and its handler begins: see `Operation.admitsItself`. */
  readonly onBegin?: (() => void) | undefined;
  /** The call is one of many: it may end before the mirror shows its changes. */
  readonly isPartOfBulk?: boolean;
  /**
   * The call is part of a task: while the database is unavailable it waits instead
   * of being rejected.
   */
  readonly waitsForStore?: boolean;
  /**
   * The caller uses the one-time path of the result immediately, as REST does, so
   * that the path does not count in limits.
   */
  readonly takesPathAtOnce?: boolean;
  /**
   * The operation and its parameters: another server of the database repeats the
   * call to serve a one-time path.
   */
  readonly invocation?: Invocation | undefined;
  /**
   * Resolves when the response to the call was sent; for a batch, when the
   * responses to all its calls were. Absent: no response is sent.
   */
  readonly answered?: Promise<void> | undefined;
  /** The span that the call is part of: that of the client, or of the calling operation. */
  readonly trace?: SpanContext | undefined;
}

/** An operation and its parameters, as the caller sent them. */
export interface Invocation {
  readonly operation: string;
  readonly params: unknown;
}

/**
 * The context of a handler: the caller, the task that it reports to, and the
 * services that it uses. @typeParam S the services of the server
 */
export interface HandlerContext<S = unknown> extends CallContext {
  /**
   * Aborted when the task is cancelled. XAPI tasks of `objects` are then cancelled
   * automatically.
   */
  readonly signal: AbortSignal;
  /** Has no task id if no client follows the call. */
  readonly task: TaskContext;
  /** Objects of the pools. XAPI tasks that are started through them are parts of `task`. */
  readonly objects: PoolObjects;
  readonly services: S;
  /** A handler that starts a task of its own notes it here. */
  readonly startedTask: StartedTask;
  /** For operations that call others by their names. */
  readonly dispatcher: Dispatcher;
  /** @param fraction 0 to 1; without a call, the progress is that of the running XAPI task */
  progress(fraction: number): void;
  /**
   * Checks a right on an object. Required for each object in the parameters besides
   * that of the permission, such as a host to start on, or an SR for a disk.
   * @throws XoError NO_SUCH_OBJECT, FORBIDDEN: the caller does not have the right
   */
  check(action: Action, resource: string, id: string): void;
  /**
   * Calls another operation as the same caller, as part of the same task.
   * @throws XoError, XapiError
   */
  call(name: string, params: unknown): Promise<unknown>;
}

/** A task of the previous run of the server that is not continued. */
export interface AbandonedTask {
  /** Calls through them are not parts of the task. */
  readonly objects: PoolObjects;
  readonly task: TaskContext;
  readonly interrupted: InterruptedTask;
}

/**
 * One operation, declared once: methods, REST routes, documentation and the
 * types of the page follow from it.
 * @typeParam S the services that its handler works with; `never`: only the description is used
 */
export interface Operation<S = never> {
  /** `noun.verb` */
  readonly name: string;
  readonly summary: string;
  /** JSON Schema of an object. Other parameters are rejected, unless the schema allows them. */
  readonly params: TObject;
  readonly result: TSchema;
  /** The minimum permission of a caller. */
  readonly permission: Permission | ObjectPermission;
  /** Whether calls are written to the audit log, and rejected while it cannot be written. */
  readonly changes?: boolean;
  /**
   * Whether a user who must set up a second factor may call it. Operations without
   * a permission are always allowed.
   */
  readonly isForSetUp?: boolean;
  readonly handler: (params: never, context: HandlerContext<S>) => unknown;
  /**
   * Continues after a crash of the server from the state that the handler has
   * persisted (`task.persistState`): in the same task, for the same user, with the
   * rights that the user has then. Not called for a task without a state, so a task of
   * such an operation cannot begin a XAPI task, or another step, before it has persisted
   * one, or declined (`tasks/require-state.ts`). Absent: the server waits for running XAPI tasks,
   * and the task reports what was not done.
   */
  readonly resume?: (
    state: never,
    context: HandlerContext<S>,
    interrupted: InterruptedTask,
  ) => unknown;
  /**
   * The handler calls `context.onBegin` when it has admitted the call. A call that ends
   * before (refused, or nothing to do) does not become a task of the REST API. Default:
   * a call has begun when the handler was called.
   */
  readonly admitsItself?: boolean;
  /**
   * Deletes what an interrupted task has created, if `resume` was refused or has failed: the user was
   * deleted or has lost the right, or what is needed does not exist any more. It may find nothing, as
   * after a `resume` that has cleaned up and fails with INTERRUPTED. See resumesAtOnce.
   * Not called when the server stops or another one has adopted the task.
   */
  readonly abandon?: (state: never, parts: AbandonedTask) => Promise<void>;
  /**
   * `resume` and `abandon` are called while XAPI tasks of the previous run may still be running.
   * Default: when they have ended.
   */
  readonly resumesAtOnce?: boolean;
  /**
   * Whether the operation with these parameters is a single XAPI task, so that the
   * outcome of that task is the outcome of an interrupted call.
   */
  readonly isOneCall?: (params: never) => boolean;
  /**
   * XAPI methods of this single XAPI task, where others may precede it. Absent: the last one is it, whatever
   * its method.
   */
  readonly callMethods?: readonly string[];
  /**
   * Completes one call of a bulk operation of a previous run of the server: what is known of it are the outcomes of its XAPI tasks. The
   * call is made again if no pool has received a request for it. Absent: its result is not known, unless it `isOneCall`.
   */
  readonly completeItem?: (
    params: never,
    context: HandlerContext<S>,
    ended: readonly EndedXapiTask[],
  ) => unknown;
  /** Routes of the REST API; absent: JSON-RPC only. */
  readonly rest?: RestRoute | readonly RestRoute[];
}

/** An operation whose parameters and result have the types that its schemas describe. */
export type OperationDefinition<
  P extends TObject,
  R extends TSchema,
  S = unknown,
> = Omit<
  Operation<S>,
  "params" | "result" | "handler" | "permission" | "isOneCall" | "completeItem"
> & {
  readonly isOneCall?: (params: Static<P>) => boolean;
  readonly completeItem?: (
    params: Static<P>,
    context: HandlerContext<S>,
    ended: readonly EndedXapiTask[],
  ) => Promise<Static<R>>;
  readonly params: P;
  readonly result: R;
  readonly permission:
    | Permission
    | (Omit<ObjectPermission, "id"> & {
        readonly id: (params: Static<P>) => string;
      });
  readonly handler: (
    params: Static<P>,
    context: HandlerContext<S>,
  ) => Static<R> | Promise<Static<R>>;
};

/**
 * Declares an operation, so that handler and schemas are type-checked. Operations
 * of the server use the function of the same name in methods/, which knows their
 * services.
 */
export function defineOperation<
  P extends TObject,
  R extends TSchema,
  S = unknown,
>(operation: OperationDefinition<P, R, S>): Operation<S> {
  return operation;
}

/** Calls operations: validates parameters, checks rights, runs the handler, and converts errors. */
export interface Dispatcher {
  readonly operations: readonly Operation[];
  find(name: string): Operation | undefined;
  /**
   * Validates parameters and checks rights like `call`, without running the
   * operation.
   * @throws XoError or XapiError that `call` would throw before it begins
   */
  admit(name: string, params: unknown, context: CallContext): void;
  /**
   * @param params an object; undefined, null and [] mean no parameters
   * @throws XoError or XapiError, nothing else
   */
  call(name: string, params: unknown, context: CallContext): Promise<unknown>;
  /**
   * Continues an operation that a previous run of the server has started.
   * @throws XoError or XapiError, nothing else
   */
  resume(call: InterruptedCall, context: CallContext): Promise<unknown>;
}

/** A call of the previous run of the server, as far as it is known. */
export interface InterruptedCall {
  readonly name: string;
  /** Id of the object, if the permission of the operation is about one. */
  readonly objectId: string;
  /** Without secrets. */
  readonly params: object;
  readonly run: (context: HandlerContext<never>) => Promise<unknown>;
  /** `run` only reports what XAPI has done, so rights are not checked. */
  readonly isOnlyReport?: boolean;
}

/** Whether a permission level includes another one. */
export function isAllowed(held: Permission, needed: Permission): boolean {
  return permissions.indexOf(held) >= permissions.indexOf(needed);
}

/** @param anonymous permissions of anonymous callers */
export function toCallContext(
  client: Client,
  address: string,
  anonymous: Permission,
): CallContext {
  const user = client.session?.user();
  const permission = user === undefined ? anonymous : permissionOf(user);
  return { user, permission, client, address };
}

/** The level of a user: `operator` may operate all objects, `user` some at most. */
export function permissionOf({
  isAdmin,
  rights,
}: AuthenticatedUser): Permission {
  if (isAdmin) return "admin";
  return rights.extent("operate", "*") === "all" ? "operator" : "user";
}
