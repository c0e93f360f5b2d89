/** Why a host refuses a VM; `rule` names the violated rule. */
export type Refusal =
  /** The host is disabled or down. */
  | { readonly rule: "state"; readonly state: "disabled" | "down" }
  /** `missing`: bytes. */
  | { readonly rule: "memory"; readonly missing: number }
  /** `missing`: VCPUs above the limit that `Limits.vcpusPerCore` sets. */
  | { readonly rule: "vcpus"; readonly missing: number }
  | { readonly rule: "network"; readonly network: string }
  | { readonly rule: "sr"; readonly sr: string }
  | { readonly rule: "device"; readonly kind: string; readonly missing: number }
  /** The VM is running and depends on this CPU compatibility class. */
  | { readonly rule: "cpu"; readonly needs: string }
  | { readonly rule: "host-affinity"; readonly hostAffinity: string }
  /** `vm`: the member of the group that conflicts. */
  | { readonly rule: "group"; readonly group: string; readonly vm: string }
  /**
   * The VM is running on another host and cannot be migrated. `reason` is
   * XAPI's error code.
   */
  | { readonly rule: "pinned"; readonly reason: string };

export type RefusalName = Refusal["rule"];

/**
 * How well a host suits a VM. Preferences are compared first, headroom second.
 */
export interface Score {
  /** Sum of the scores of preferred host affinities. */
  readonly hostAffinity: number;
  /**
   * Sum of the weights of preferred groups: 0 or less for anti-affinity, 0 or
   * more for affinity.
   */
  readonly groups: number;
  /**
   * Share of memory or CPU that stays free with the VM placed there, whichever
   * is scarcer. 1: all; 0: none; below 0: overloaded.
   */
  readonly headroom: number;
}

/** A host, evaluated for one VM. */
export interface Candidate {
  readonly host: string;
  /** All rules that exclude the host. Empty: the host accepts the VM. */
  readonly refusals: readonly Refusal[];
  /** Present when the host accepts the VM. */
  readonly score?: Score;
}

/** An infeasible subset of the rules: they cannot all hold. */
export interface Conflict {
  readonly rules: readonly ConflictRule[];
  /**
   * smallest: no conflict with fewer rules exists. irreducible: without any one
   * of these rules the rest can hold, but a smaller conflict may exist.
   */
  readonly size: "smallest" | "irreducible";
}

/** A rule of the model as a whole, not for one host. */
export type ConflictRule =
  /** Hosts that accept no VMs. */
  | { readonly rule: "state"; readonly hosts: readonly string[] }
  /**
   * Bytes. For one VM `free` is that of the host with the most; for several VMs
   * it is the sum over all hosts that are up, which can exceed `needed` when it
   * is fragmented.
   */
  | {
      readonly rule: "memory";
      readonly needed: number;
      readonly free: number;
    }
  | { readonly rule: "vcpus"; readonly perCore: number }
  | { readonly rule: "network"; readonly network: string }
  | { readonly rule: "sr"; readonly sr: string }
  | { readonly rule: "device"; readonly kind: string }
  | { readonly rule: "cpu"; readonly needs: string }
  | { readonly rule: "host-affinity"; readonly hostAffinity: string }
  | { readonly rule: "group"; readonly group: string }
  | { readonly rule: "pinned"; readonly vm: string };
