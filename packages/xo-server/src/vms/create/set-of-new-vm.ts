import type { PoolObject } from "../../objects/pool-objects.js";
import type { HandlerContext } from "../../operations/operation.js";
import type {
  OpenResourceSet,
  ResourceSetAccess,
  UsageReservation,
} from "../limits/resource-sets.js";
import { setOf } from "../limits/set-growth.js";

/** The resource set in which a new VM is counted. */
export interface SetOfNewVm extends Pick<OpenResourceSet, "reserve" | "own"> {
  readonly id: string;
}

/**
 * The set of the template, for a caller who chooses none: as a copy, the VM is counted where
 * its template is. Otherwise a template that is made of a VM of a set would be a way out of its
 * limits. Administrators are not limited.
 * @returns undefined: the VM is in no set
 */
export function inheritedSet(
  template: PoolObject,
  sets: Pick<ResourceSetAccess, "reserveFor">,
  context: HandlerContext,
): SetOfNewVm | undefined {
  const id = setOf(template);
  if (id === undefined || context.user?.isAdmin === true) return undefined;
  let taken: UsageReservation | undefined;
  return {
    id,
    reserve: async (usage) => {
      const reserved = await sets.reserveFor(id, usage, context);
      taken = reserved;
      return () => reserved.release();
    },
    own: async (vmId) => taken?.own(vmId),
  };
}
