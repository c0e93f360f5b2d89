import type { Static, TObject, TSchema } from "typebox";
import type { Person } from "../people/person.js";
import type { StatusSubscriber } from "../status/status-feed.js";
import type { RestRoute } from "./rest-route.js";

/**
 * What a caller may do; each includes the ones before. A `guest` has not signed
 * in: states and figures are shown to whoever opens the page, objects are not.
 */
export const permissions = [
  "none",
  "guest",
  "viewer",
  "operator",
  "admin",
] as const;
export type Permission = (typeof permissions)[number];

/** Who calls. */
export interface CallContext {
  /** Absent: nobody has signed in. */
  readonly person?: Person;
  readonly permission: Permission;
  /** The connection that notifications go to. */
  readonly client: StatusSubscriber;
}

/**
 * One operation, declared once. Doors, docs and the page's types follow from
 * it; they translate, they never decide.
 */
export interface Operation {
  /** `noun.verb` */
  readonly name: string;
  readonly summary: string;
  /** An object of parameters, as JSON Schema. */
  readonly params: TObject;
  readonly result: TSchema;
  /** The least that a caller needs. */
  readonly permission: Permission;
  readonly handler: (params: never, context: CallContext) => unknown;
  /** Where the REST API has it; absent: only JSON-RPC does. */
  readonly rest?: RestRoute;
}

/** Checks that handler and schemas fit each other. */
export function defineOperation<P extends TObject, R extends TSchema>(
  operation: Omit<Operation, "params" | "result" | "handler"> & {
    readonly params: P;
    readonly result: R;
    readonly handler: (
      params: Static<P>,
      context: CallContext,
    ) => Static<R> | Promise<Static<R>>;
  },
): Operation {
  return operation;
}

export function isAllowed(held: Permission, needed: Permission): boolean {
  return permissions.indexOf(held) >= permissions.indexOf(needed);
}
