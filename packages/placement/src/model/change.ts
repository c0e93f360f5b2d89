import type { HostModel, VmModel } from "./pool-model.js";

/** One change of a pool, real or hypothetical. */
export type Change =
  /** The host is down. Its VMs do not run. */
  | { readonly kind: "host-down"; readonly host: string }
  /**
   * The host accepts VMs again. VMs that it ran before it went down stay
   * halted.
   */
  | { readonly kind: "host-up"; readonly host: string }
  /** Adds a host, or replaces the description of the host with this id. */
  | { readonly kind: "host"; readonly host: HostModel }
  /** Adds a VM, or replaces the description of the VM with this id. */
  | { readonly kind: "vm"; readonly vm: VmModel }
  | { readonly kind: "vm-removed"; readonly vm: string };
