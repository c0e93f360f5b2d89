import type { HandlerContext } from "../../operations/operation.js";

/** Key of other_config of a VM, with the id of its set as JSON. */
export const SET_KEY = "xo:resource_set";

/** Objects that users of a resource set may use without rights of their own. */
export interface ResourceSetAccess {
  /** @throws XoError NO_SUCH_OBJECT, FORBIDDEN: the caller is not one of its users */
  open(id: string, context: HandlerContext): OpenResourceSet;
  /**
   * Reserves what an existing VM of the set needs in addition.
   * @throws XoError RESOURCES_EXHAUSTED
   */
  grow(
    setId: string,
    vmId: string,
    growth: ResourceUsage,
  ): Promise<GrowthReservation>;
  /**
   * Reserves the resources for a copy of a VM of the set, for any caller.
   * @throws XoError RESOURCES_EXHAUSTED
   */
  reserveFor(
    setId: string,
    usage: ResourceUsage,
    context: HandlerContext,
  ): Promise<UsageReservation>;
  /**
   * Assigns an address of the set's IP pools to a new VIF.
   * @param network id of its network
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
  /** Releases the address, because the VIF was not created. */
  release(): Promise<void>;
}

export interface GrowthReservation {
  /** Releases the reservation, because the VM did not grow. */
  release(): Promise<void>;
  /** To be called when the VM has grown. Resolves when the mirror shows that, and counts it. */
  settle(): Promise<void>;
}

export const noGrowth: GrowthReservation = {
  release: () => Promise.resolve(),
  settle: () => Promise.resolve(),
};

export interface UsageReservation {
  release(): Promise<void>;
  /**
   * To be called when the VM was created: grants the rights of an owner to the
   * caller, or to all subjects of the set.
   */
  own(vmId: string): Promise<void>;
}

export interface OpenResourceSet {
  /** Whether its users may use this object. */
  has(objectId: string): boolean;
  /**
   * Reserves the resources of a VM.
   * @param vmId id of an existing VM; absent: the VM is created, see `own`
   * @returns releases the reservation
   * @throws XoError RESOURCES_EXHAUSTED
   */
  reserve(usage: ResourceUsage, vmId?: string): Promise<() => Promise<void>>;
  /**
   * To be called when the VM was created from the set: grants the rights of an
   * owner to its creator, or to all users of the set.
   */
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
  /** Number of VMs; of a reservation, the number of further VMs or templates. Default: 1. */
  readonly vms?: number;
}

/** Actions on the objects of a set that its users may perform. */
const USER_ACTIONS: ReadonlySet<string> = new Set([
  "read",
  "administrate:create-vm",
  "operate:attach",
  "operate:place",
  "operate:store",
  "operate:use",
]);

/** Checks the caller's rights, or the membership in a set that grants the action. */
export function checkWith(
  set: OpenResourceSet | undefined,
  context: HandlerContext,
): Pick<HandlerContext, "check"> {
  if (set === undefined) return context;
  return {
    check(action, resource, id) {
      if (!(set.has(id) && USER_ACTIONS.has(action)))
        context.check(action, resource, id);
    },
  };
}
