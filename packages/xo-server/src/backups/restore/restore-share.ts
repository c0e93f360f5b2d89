import { XoError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { HandlerContext } from "../../operations/operation.js";
import {
  SET_KEY,
  type ResourceSetAccess,
} from "../../vms/limits/resource-sets.js";
import { markSet } from "../../vms/limits/set-mark.js";
import type { VmPlan } from "./restore-plan.js";

interface RestoreShare {
  release(): Promise<void>;
  /**
   * To be called when the VM is restored: adds it to its resource set, and grants
   * the caller the rights of an owner.
   */
  own(
    xapi: Xapi,
    vm: { readonly ref: Ref; readonly id: string },
  ): Promise<void>;
}

export interface RestoreShares {
  /**
   * Reserves the resources of a restored VM in the resource set of the VM that was
   * backed up. If the caller is not a subject of that set, the VM is restored
   * without a set.
   * @throws XoError RESOURCES_EXHAUSTED
   */
  take(plan: VmPlan): Promise<RestoreShare>;
}

/** Undefined for administrators, who are not limited. */
export function sharesOf(
  context: HandlerContext,
  sets: ResourceSetAccess,
): RestoreShares | undefined {
  if (context.user?.isAdmin === true) return undefined;
  return {
    async take(plan) {
      const mark = configOf(plan)[SET_KEY];
      const set = toSetId(mark);
      if (set === undefined || !isSubject(set, context, sets)) return noShare;
      const taken = await sets.reserveFor(set, usageOf(plan), context);
      return {
        release: () => taken.release(),
        async own(xapi, { ref, id }) {
          await markSet(xapi, ref, mark);
          await taken.own(id);
        },
      };
    },
  };
}

/** A plan of a VM that is in no resource set. */
export function withoutSet(plan: VmPlan): VmPlan {
  const rest = Object.entries(configOf(plan)).filter(
    ([key]) => key !== SET_KEY,
  );
  const other_config = Object.fromEntries(rest);
  return { ...plan, vm: { ...plan.vm, other_config } };
}

const noShare: RestoreShare = {
  release: () => Promise.resolve(),
  own: () => Promise.resolve(),
};

function isSubject(
  set: string,
  context: HandlerContext,
  sets: ResourceSetAccess,
): boolean {
  try {
    sets.open(set, context);
    return true;
  } catch (error) {
    if (error instanceof XoError && error.code === "NO_SUCH_OBJECT")
      return false;
    throw error;
  }
}

function usageOf({ vm, disks }: VmPlan) {
  return {
    cpus: Number(vm["VCPUs_at_startup"] ?? 1),
    memory: Number(vm["memory_dynamic_max"] ?? 0),
    disk: disks.reduce((sum, { size }) => sum + size, 0),
  };
}

function configOf({ vm }: VmPlan): Readonly<Record<string, string>> {
  return (vm["other_config"] ?? {}) as Readonly<Record<string, string>>;
}

function toSetId(mark: string | undefined): string | undefined {
  try {
    const set: unknown = mark === undefined ? undefined : JSON.parse(mark);
    return typeof set === "string" && set !== "" ? set : undefined;
  } catch {
    // Another client has written it: it names no set.
    return undefined;
  }
}
