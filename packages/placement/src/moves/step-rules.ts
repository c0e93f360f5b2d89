import type { Layout } from "../layout/layout.js";
import { groups } from "../rules/groups.js";
import type { HostRule } from "../rules/host-rule.js";
import { allows, rulesFor } from "../rules/host-rules.js";

/** What hosts refuse while moves go on: as ever, but for strict groups that are together, which may be parted on the way. */
export class StepRules {
  readonly #layout: Layout;
  readonly #rules: readonly HostRule[];
  readonly #hasApart: boolean;

  constructor(layout: Layout) {
    this.#layout = layout;
    this.#rules = rulesFor(layout).filter((rule) => rule !== groups);
    this.#hasApart = layout.pool.groups.models.some(isStrictlyApart);
  }

  /** @param host one that the VM is not counted on */
  allows(vm: number, host: number): boolean {
    const hasMemory =
      this.#layout.freeMemory[host]! >= this.#layout.pool.vmMemory[vm]! - 1;
    return (
      hasMemory &&
      allows(this.#rules, this.#layout, vm, host) &&
      (!this.#hasApart || this.#isApart(vm, host))
    );
  }

  #isApart(vm: number, host: number): boolean {
    const { pool, members } = this.#layout;
    const { groupsOf, models } = pool.groups;
    const end = groupsOf.offsets[vm + 1] ?? 0;
    for (let at = groupsOf.offsets[vm] ?? 0; at < end; at++) {
      const group = groupsOf.values[at]!;
      if (!isStrictlyApart(models[group]!)) continue;
      if (members.get(group, host) > 0) return false;
    }
    return true;
  }
}

export function isStrictlyApart({
  kind,
  strict,
}: {
  readonly kind: string;
  readonly strict: boolean;
}): boolean {
  return strict && kind === "apart";
}
