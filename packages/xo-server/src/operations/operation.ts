import type { Static, TObject, TSchema } from "typebox";
import type { PoolObjects } from "../objects/pool-objects.js";
import type { AuthenticatedUser } from "../auth/authenticated-user.js";
import type { InterruptedTask } from "../tasks/interrupted-task.js";
import type { TaskContext } from "../tasks/task-context.js";
import type { Client } from "../auth/client.js";
import type { RestRoute } from "./rest-route.js";
import type { Action } from "../rights/actions.js";
import type { SpanContext } from "../telemetry/trace-context.js";

/**
 * Permission levels; each includes the ones before. A `guest` is anonymous and
 * reads what a sign-in page needs (`viewer`: in the demo, pools and objects
 * too). A `user` has signed in and may read the objects that the user's rights
 * allow. An `operator` may operate all objects.
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

/** The right to do something to one object, that the parameters name. */
export interface ObjectPermission {
  readonly action: Action;
  /** Type of the object, such as `VM`; `*`: any. */
  readonly resource: string;
  /** Its id. The parameters have been checked. */
  readonly id: (params: never) => string;
}

/** The caller and its address. */
export interface CallContext {
  /** Absent: anonymous. */
  readonly user?: AuthenticatedUser | undefined;
  readonly permission: Permission;
  /** The connection that notifications are sent to. */
  readonly client: Client;
  /** IP address of the client, without a port; of calls of the server itself, what makes them: `job:<id>`, `balancer`. */
  readonly address: string;
  /** The task that the call reports to; absent: no client follows it. */
  readonly task?: TaskContext;
  /** Called when the call was admitted and its handler begins. */
  readonly onBegin?: (() => void) | undefined;
  /** One of many calls: it may end before the mirror shows its changes. */
  readonly isPartOfBulk?: boolean;
  /** One of the calls of a task: it waits while the database is unavailable, instead of being refused. */
  readonly waitsForStore?: boolean;
  /**
   * The caller uses the one-time path of the result immediately, as REST does: it is not counted.
   */
  readonly takesPathAtOnce?: boolean;
  /** What is called: another server of the database calls it again to serve a one-time path. */
  readonly invocation?: Invocation | undefined;
  /** Resolves when the response to the call was sent, of a batch that of all its calls. Absent: no response is sent. */
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
 * What a handler gets: the caller, the task that it reports to, and what it
 * works with.
 * @typeParam S the services of the server
 */
export interface HandlerContext<S = unknown> extends CallContext {
  /** Aborted when the task is cancelled. XAPI tasks of `objects` are cancelled with it, without the handler's doing. */
  readonly signal: AbortSignal;
  /** Without a task id where no client follows the call. */
  readonly task: TaskContext;
  /** Objects of the pools. XAPI tasks that are started through them are parts of `task`. */
  readonly objects: PoolObjects;
  readonly services: S;
  /** For operations that call others by their names. */
  readonly dispatcher: Dispatcher;
  /** @param fraction 0 to 1; without it, the progress is that of the XAPI task under way */
  progress(fraction: number): void;
  /**
   * Required for each object that parameters name besides that of the
   * permission: a host to start on, an SR for a disk.
   * @throws XoError NO_SUCH_OBJECT, FORBIDDEN: the caller may not do this to it
   */
  check(action: Action, resource: string, id: string): void;
  /**
   * Calls another operation as the same caller, as part of the same task.
   * @throws XoError, XapiError
   */
  call(name: string, params: unknown): Promise<unknown>;
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
  /** JSON Schema of an object. Other parameters are refused, unless the schema allows them. */
  readonly params: TObject;
  readonly result: TSchema;
  /** The least that a caller needs. */
  readonly permission: Permission | ObjectPermission;
  /** Written to the audit log, and refused while that cannot be written. */
  readonly changes?: boolean;
  /** Also for a user who must set up a second factor first. Operations without a permission always are. */
  readonly isForSetUp?: boolean;
  readonly handler: (params: never, context: HandlerContext<S>) => unknown;
  /**
   * Continues after a crash of the server from the state that the handler has
   * persisted (`task.persistState`): in the same task, for the same user, with
   * the rights that the user has then. Absent: XAPI tasks under way are waited
   * for, and the task reports what was not done.
   */
  readonly resume?: (
    state: never,
    context: HandlerContext<S>,
    interrupted: InterruptedTask,
  ) => unknown;
  /** `resume` is called while XAPI tasks of the previous run may still be running. Default: when they have ended. */
  readonly resumesAtOnce?: boolean;
  /**
   * With these parameters the operation is one XAPI task and nothing else: the
   * outcome of that task is the outcome of an interrupted call.
   */
  readonly isOneCall?: (params: never) => boolean;
  /** Routes of the REST API; absent: JSON-RPC only. */
  readonly rest?: RestRoute | readonly RestRoute[];
}

/** An operation with the types that its schemas give to its parameters and its result. */
export type OperationDefinition<
  P extends TObject,
  R extends TSchema,
  S = unknown,
> = Omit<
  Operation<S>,
  "params" | "result" | "handler" | "permission" | "isOneCall"
> & {
  readonly isOneCall?: (params: Static<P>) => boolean;
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

/** Type checks that handler and schemas fit each other. Operations of the server use that of methods/, which knows their services. */
export function defineOperation<
  P extends TObject,
  R extends TSchema,
  S = unknown,
>(operation: OperationDefinition<P, R, S>): Operation<S> {
  return operation;
}

/** Calls operations: checks parameters and rights, runs the handler, names its errors. */
export interface Dispatcher {
  readonly operations: readonly Operation[];
  find(name: string): Operation | undefined;
  /**
   * Checks parameters and rights as `call` does, and runs nothing.
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
  /** Id of the object, where the permission of the operation is about one. */
  readonly objectId: string;
  /** Without secrets. */
  readonly params: object;
  readonly run: (context: HandlerContext<never>) => Promise<unknown>;
  /** `run` only reports what XAPI has done: rights are not checked. */
  readonly isOnlyReport?: boolean;
}

/** Each level includes the ones before it. */
export function isAllowed(held: Permission, needed: Permission): boolean {
  return permissions.indexOf(held) >= permissions.indexOf(needed);
}

/** @param anonymous permissions of anonymous callers */
export function toCallContext(
  client: Client,
  address: string,
  anonymous: Permission,
): CallContext {
  const person = client.session?.user();
  const permission = person === undefined ? anonymous : permissionOf(person);
  return { user: person, permission, client, address };
}

export function permissionOf({
  isAdmin,
  rights,
}: AuthenticatedUser): Permission {
  if (isAdmin) return "admin";
  return rights.extent("operate", "*") === "all" ? "operator" : "user";
}
