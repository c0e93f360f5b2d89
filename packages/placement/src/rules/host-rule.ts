import type { Assignment } from "../assignment/assignment.js";
import type { Refusal } from "../model/refusal.js";

/**
 * One rule by which hosts refuse VMs, in two consistent forms: `allows` is
 * fast, for searches; `explain` has the details, for users. The VM must not be
 * counted on the host.
 */
export interface HostRule {
  /**
   * Name of its refusals. Absent: they have several names, given by `explain`.
   */
  readonly name?: Refusal["rule"];
  /** Whether the rule applies to any object of the pool. Absent: always. */
  readonly isRelevant?: (assignment: Assignment) => boolean;
  readonly allows: (
    assignment: Assignment,
    vm: number,
    host: number,
  ) => boolean;
  /** Not empty when `allows` returns false. */
  readonly explain: (
    assignment: Assignment,
    vm: number,
    host: number,
  ) => Refusal[];
}
