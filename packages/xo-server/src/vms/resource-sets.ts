import { XoError } from "@xo-server/model";
import type { HandlerContext } from "../operations/operation.js";

/** What people of a resource set may use without rights of their own. */
export interface ResourceSets {
  /** @throws XoError NO_SUCH_OBJECT, FORBIDDEN: the caller is not one of its people */
  open(id: string, context: HandlerContext): OpenResourceSet;
}

export interface OpenResourceSet {
  /** May its people use this object? */
  has(objectId: string): boolean;
  /**
   * Takes what a VM needs from what is left.
   * @returns gives it back
   * @throws XoError where it is not enough
   */
  take(usage: ResourceUsage): Promise<() => Promise<void>>;
  /** The VM was made of it: it belongs to who made it, or to all people of the set. */
  own(vmId: string): Promise<void>;
}

export interface ResourceUsage {
  readonly cpus: number;
  /** Bytes. */
  readonly memory: number;
  /** Bytes. */
  readonly disk: number;
}

/** A server without resource sets. */
export const noResourceSets: ResourceSets = {
  open(id) {
    throw new XoError("NO_SUCH_OBJECT", { type: "resourceSet", id });
  },
};

/** Actions on its objects that a set lends. */
const LENT: ReadonlySet<string> = new Set([
  "read",
  "administrate:create-vm",
  "operate:attach",
  "operate:place",
  "operate:store",
  "operate:use",
]);

/** The caller's rights, or those that a set lends. */
export function checkWith(
  set: OpenResourceSet | undefined,
  context: HandlerContext,
): Pick<HandlerContext, "check"> {
  if (set === undefined) return context;
  return {
    check(action, resource, id) {
      if (!(set.has(id) && LENT.has(action)))
        context.check(action, resource, id);
    },
  };
}
