import { XoError } from "@xo-server/model";
import type { HandlerContext } from "../operations/operation.js";

/** Key of other_config of a VM, with the id of its set as JSON. */
export const SET_KEY = "xo:resource_set";

/** Objects that users of a resource set may use without rights of their own. */
export interface ResourceSetAccess {
  /** @throws XoError NO_SUCH_OBJECT, FORBIDDEN: the caller is not one of its users */
  open(id: string, context: HandlerContext): OpenResourceSet;
  /**
   * Takes what an existing VM of the set needs in addition.
   * @throws XoError RESOURCES_EXHAUSTED
   */
  grow(setId: string, vmId: string, growth: ResourceUsage): Promise<GrownShare>;
  /**
   * Takes the resources of a copy of a VM of the set, for any caller.
   * @throws XoError RESOURCES_EXHAUSTED
   */
  takeFor(
    setId: string,
    usage: ResourceUsage,
    context: HandlerContext,
  ): Promise<TakenShare>;
  /**
   * An address of the set's IP pools for a new VIF.
   * @param network its id
   * @returns undefined: no IP pool of the set is for this network
   * @throws XoError RESOURCES_EXHAUSTED
   */
  assignAddress(
    setId: string,
    network: string,
  ): Promise<AssignedAddress | undefined>;
  /** Grants all subjects of the set the rights of owners of a VM. */
  share(setId: string, vmId: string): Promise<void>;
}

export interface AssignedAddress {
  readonly family: "ipv4" | "ipv6";
  readonly address: string;
  /** The VIF was not created. */
  giveBack(): Promise<void>;
}

export interface GrownShare {
  /** The VM did not grow. */
  giveBack(): Promise<void>;
  /** The VM has grown. Resolves when the mirror shows it: it is counted there. */
  done(): Promise<void>;
}

export const noGrowth: GrownShare = {
  giveBack: () => Promise.resolve(),
  done: () => Promise.resolve(),
};

export interface TakenShare {
  giveBack(): Promise<void>;
  /** The VM was created: it belongs to the caller, or to all subjects of the set. */
  own(vmId: string): Promise<void>;
}

export interface OpenResourceSet {
  /** Whether its users may use this object. */
  has(objectId: string): boolean;
  /**
   * Takes what a VM needs from what is left.
   * @param vmId of a VM that exists; absent: it is created, see `own`
   * @returns gives it back
   * @throws XoError where it is not enough
   */
  take(usage: ResourceUsage, vmId?: string): Promise<() => Promise<void>>;
  /** The VM was created from it: it belongs to its creator, or to all users of the set. */
  own(vmId: string): Promise<void>;
}

export interface ResourceUsage {
  readonly cpus: number;
  /** Bytes. */
  readonly memory: number;
  /** Bytes. */
  readonly disk: number;
  /** Number of snapshots. Default: 0. */
  readonly snapshots?: number;
  /** Number of VMs, of a reservation for a further VM or template. Default: 1. */
  readonly vms?: number;
}

/** A server without resource sets. */
export const noResourceSets: ResourceSetAccess = {
  open(id) {
    throw new XoError("NO_SUCH_OBJECT", { type: "resourceSet", id });
  },
  grow: () => Promise.resolve(noGrowth),
  assignAddress: () => Promise.resolve(undefined),
  takeFor: () =>
    Promise.resolve({
      giveBack: () => Promise.resolve(),
      own: () => Promise.resolve(),
    }),
  share: () => Promise.resolve(),
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
