import { Layout } from "../layout/layout.js";
import type { Unplaced } from "../model/plan.js";
import type { HostRule } from "../rules/host-rule.js";
import { allows, rulesFor } from "../rules/host-rules.js";

/** Why no host takes VMs that run nowhere, once all others are placed. */
export function toUnplacedAll(
  layout: Layout,
  vms: readonly number[],
): Unplaced[] {
  if (vms.length === 0) return [];
  const { pool, limits } = layout;
  const rules = rulesFor(layout);
  const before = Layout.now(pool, { limits });
  const isCrowded = (vm: number) =>
    pool.hosts.ids.some((_, host) => allows(rules, before, vm, host));
  return vms.map((vm) => ({
    vm: pool.vms.ids[vm]!,
    refusals: countRefusals(layout, rules, vm),
    crowded: isCrowded(vm),
  }));
}

/** Only what refuses has to say by what name. */
function countRefusals(
  layout: Layout,
  rules: readonly HostRule[],
  vm: number,
): Unplaced["refusals"] {
  const counts = new Map<string, number>();
  const hosts = layout.pool.hosts.size;
  for (let host = 0; host < hosts; host++)
    for (const name of namesOf(layout, rules, vm, host))
      counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([rule, hosts]) => ({ rule, hosts }));
}

function namesOf(
  layout: Layout,
  rules: readonly HostRule[],
  vm: number,
  host: number,
): ReadonlySet<string> {
  const names = new Set<string>();
  for (const one of rules) {
    if (one.allows(layout, vm, host)) continue;
    if (one.name !== undefined) names.add(one.name);
    else for (const { rule } of one.explain(layout, vm, host)) names.add(rule);
  }
  return names;
}
