/** A rule by which a host does not take a VM. */
export type Rule =
  /** The host is disabled or down. */
  | { readonly rule: "state"; readonly state: "disabled" | "down" }
  /** Bytes that are missing there. */
  | { readonly rule: "memory"; readonly lacks: number }
  /** VCPUs above what the host may have by `Limits.vcpusPerCore`. */
  | { readonly rule: "vcpus"; readonly lacks: number }
  | { readonly rule: "network"; readonly network: string }
  | { readonly rule: "sr"; readonly sr: string }
  | { readonly rule: "device"; readonly kind: string; readonly lacks: number }
  /** It runs, and found this CPU. */
  | { readonly rule: "cpu"; readonly needs: string }
  | { readonly rule: "location"; readonly location: string }
  /** `vm`: the member of the group that is in the way. */
  | { readonly rule: "group"; readonly group: string; readonly vm: string }
  /** It runs elsewhere and cannot move: XAPI's code. */
  | { readonly rule: "pinned"; readonly reason: string };

export type RuleName = Rule["rule"];

/** How good a host is for a VM: preferences first, room second. */
export interface Score {
  /** What locations say. */
  readonly locations: number;
  /** What groups that are not strict say, 0 or less for "apart", 0 or more for "together". */
  readonly groups: number;
  /** What stays free of memory or CPU with the VM there, whichever is scarcer: 1 all of it, 0 none, less: overloaded. */
  readonly room: number;
}

/** A host, as seen by a VM that looks for one. */
export interface Candidate {
  readonly host: string;
  /** All the rules that keep it out; none: it can go there. */
  readonly refusals: readonly Rule[];
  /** Of hosts that take it. */
  readonly score?: Score;
}

/** Why something cannot be: rules that cannot all hold. Without any one of them it could be. */
export interface Conflict {
  readonly rules: readonly ConflictRule[];
  /**
   * smallest: there is none with fewer rules. irreducible: none of these can be
   * left out, though another set may be smaller.
   */
  readonly size: "smallest" | "irreducible";
}

/** A rule of the model, taken as a whole. */
export type ConflictRule =
  /** Hosts that take no VMs. */
  | { readonly rule: "state"; readonly hosts: readonly string[] }
  /** The VMs need so many bytes where so many are free: of one VM, on the host that has most; of several, on all hosts that are up, which may be more, but in pieces. */
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
  | { readonly rule: "location"; readonly location: string }
  | { readonly rule: "group"; readonly group: string }
  | { readonly rule: "pinned"; readonly vm: string };
