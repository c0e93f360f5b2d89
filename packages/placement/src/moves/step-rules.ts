import type { Assignment } from "../assignment/assignment.js";
import { groups } from "../rules/groups.js";
import type { HostRule } from "../rules/host-rule.js";
import { allows, rulesFor } from "../rules/host-rules.js";

/**
 * The rules during moves: as usual, except that units of required affinity may
 * be split.
 */
export class StepRules {
  readonly #assignment: Assignment;
  readonly #rules: readonly HostRule[];
  readonly #hasAntiAffinity: boolean;

  constructor(assignment: Assignment) {
    this.#assignment = assignment;
    this.#rules = rulesFor(assignment).filter((rule) => rule !== groups);
    this.#hasAntiAffinity = assignment.pool.groups.models.some(
      isRequiredAntiAffinity,
    );
  }

  /** @param host a host that the VM is not counted on */
  allows(vm: number, host: number): boolean {
    const hasMemory =
      this.#assignment.freeMemory[host]! >=
      this.#assignment.pool.vmMemory[vm]! - 1;
    return (
      hasMemory &&
      allows(this.#rules, this.#assignment, vm, host) &&
      (!this.#hasAntiAffinity || this.#keepsAntiAffinity(vm, host))
    );
  }

  #keepsAntiAffinity(vm: number, host: number): boolean {
    const { pool, members } = this.#assignment;
    const { groupsOf, models } = pool.groups;
    const end = groupsOf.offsets[vm + 1] ?? 0;
    for (let at = groupsOf.offsets[vm] ?? 0; at < end; at++) {
      const group = groupsOf.values[at]!;
      if (!isRequiredAntiAffinity(models[group]!)) continue;
      if (members.get(group, host) > 0) return false;
    }
    return true;
  }
}

/**
 * Preferred anti-affinity does not restrict migrations, and affinity must be
 * violated during them.
 */
export function isRequiredAntiAffinity({
  kind,
  required,
}: {
  readonly kind: string;
  readonly required: boolean;
}): boolean {
  return required && kind === "anti-affinity";
}
