import type { HostModel, VmModel } from "./pool-model.js";

/** One thing that has become, or would be, different in a pool. */
export type Change =
  /** Nothing runs there any more, and what ran there does not run. */
  | { readonly kind: "host-out"; readonly host: string }
  /** It takes VMs again; what ran there when it went out does not run. */
  | { readonly kind: "host-in"; readonly host: string }
  /** A host that is new, or another description of the one with its id. */
  | { readonly kind: "host"; readonly host: HostModel }
  /** A VM that is new, or another description of the one with its id. */
  | { readonly kind: "vm"; readonly vm: VmModel }
  | { readonly kind: "vm-gone"; readonly vm: string };
