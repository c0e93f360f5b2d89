import type { Layout } from "../layout/layout.js";
import type { Rule } from "../model/rule.js";

/**
 * One rule by which hosts refuse VMs, told in two ways that must agree: fast
 * for the search, and in words' worth of detail for people. The VM is not
 * counted on the host while it is asked.
 */
export interface HostRule {
  /** How its refusals are called. Absent: one or the other, as `explain` tells. */
  readonly name?: Rule["rule"];
  /** Whether a pool has anything that this rule is about. Absent: always. */
  readonly matters?: (layout: Layout) => boolean;
  readonly allows: (layout: Layout, vm: number, host: number) => boolean;
  /** Not empty where `allows` is false. */
  readonly explain: (layout: Layout, vm: number, host: number) => Rule[];
}
