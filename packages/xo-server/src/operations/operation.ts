import type { Static, TObject, TSchema } from "typebox";
import type { AuthenticatedUser } from "../auth/authenticated-user.js";
import type { InterruptedTask } from "../tasks/interrupted-task.js";
import type { TaskContext } from "../tasks/task-context.js";
import type { Client } from "../auth/client.js";
import type { RestRoute } from "./rest-route.js";

/**
 * What a caller may do; each includes the ones before. A `guest` has not signed
 * in: states and figures are shown to whoever opens the page, objects are not
 * (`viewer`: in the demo they are). A `user` has signed in: which objects there
 * are for them, their rights say. An `operator` may do that to all objects.
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
  /** Such as `operate:start`: see rights/privilege. */
  readonly action: string;
  /** Type of the object, such as `VM`; `*`: any. */
  readonly resource: string;
  /** Its id. The parameters have been checked. */
  readonly id: (params: never) => string;
}

/** Who calls. */
export interface CallContext {
  /** Absent: nobody has signed in. */
  readonly user?: AuthenticatedUser | undefined;
  readonly permission: Permission;
  /** The connection that notifications go to. */
  readonly client: Client;
  /** Where the call comes from, without a port. */
  readonly address: string;
  /** What the call is done as; absent: nobody follows it. */
  readonly task?: TaskContext;
  /** One of many: what it has changed need not be there to be read when it has ended. */
  readonly isPartOfBulk?: boolean;
}

/** Who calls, for a handler. */
export interface HandlerContext extends CallContext {
  /** Aborted when the caller does not want it any more. Tasks of pools are cancelled without the handler's doing. */
  readonly signal: AbortSignal;
  readonly task: TaskContext;
  /** How far it is, 0 to 1; without it, it is as far as the pool's task that is under way. */
  progress(fraction: number): void;
  /**
   * For every object that parameters name beside the one that the permission
   * is about: a host to start on, an SR to put a disk on.
   * @throws XoError NO_SUCH_OBJECT, FORBIDDEN: the caller may not do this to it
   */
  check(action: string, resource: string, id: string): void;
}

/**
 * One operation, declared once. Doors, docs and the page's types follow from
 * it; they translate, they never decide.
 */
export interface Operation {
  /** `noun.verb` */
  readonly name: string;
  readonly summary: string;
  /** An object of parameters, as JSON Schema. None but these are taken, unless it says so. */
  readonly params: TObject;
  readonly result: TSchema;
  /** The least that a caller needs. */
  readonly permission: Permission | ObjectPermission;
  /** Goes to the audit log, and is refused while that cannot be written. */
  readonly changes?: boolean;
  readonly handler: (params: never, context: HandlerContext) => unknown;
  /**
   * Goes on, after the server has died, with what the handler has kept
   * (`work.keep`): under the same task, as the same user, with the rights that
   * they have now. Absent: what XAPI still does is waited for, and the task
   * says what was not done.
   */
  readonly resume?: (
    kept: never,
    context: HandlerContext,
    recalled: InterruptedTask,
  ) => unknown;
  /** Pools may still be doing what they were asked for in the last run: `resume` looks itself. Default: it begins when they have ended. */
  readonly resumesAtOnce?: boolean;
  /**
   * With these parameters its work is one task of XAPI, and nothing comes
   * after: as that has ended, so has the work of a server that died meanwhile.
   */
  readonly isOneCall?: (params: never) => boolean;
  /** Where the REST API has it; absent: only JSON-RPC does. */
  readonly rest?: RestRoute | readonly RestRoute[];
}

/** Checks that handler and schemas fit each other. */
export function defineOperation<P extends TObject, R extends TSchema>(
  operation: Omit<
    Operation,
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
      context: HandlerContext,
    ) => Static<R> | Promise<Static<R>>;
  },
): Operation {
  return operation;
}

export function isAllowed(held: Permission, needed: Permission): boolean {
  return permissions.indexOf(held) >= permissions.indexOf(needed);
}

/** @param anonymous what callers may who have not signed in */
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
