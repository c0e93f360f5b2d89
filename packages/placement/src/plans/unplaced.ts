import { Layout } from "../layout/layout.js";
import type { Unplaced } from "../model/plan.js";
import { refusalsOf } from "../rules/host-rules.js";

/** Why no host takes VMs that run nowhere, once all others are placed. */
export function toUnplacedAll(
  layout: Layout,
  vms: readonly number[],
): Unplaced[] {
  if (vms.length === 0) return [];
  const { pool, limits } = layout;
  const before = Layout.now(pool, { limits });
  return vms.map((vm) => ({
    vm: pool.vms.ids[vm]!,
    refusals: countRefusals(layout, vm),
    crowded: pool.hosts.ids.some(
      (_, host) => refusalsOf(before, vm, host).length === 0,
    ),
  }));
}

function countRefusals(layout: Layout, vm: number): Unplaced["refusals"] {
  const counts = new Map<string, number>();
  for (const host of layout.pool.hosts.ids.keys()) {
    const names = refusalsOf(layout, vm, host).map(({ rule }) => rule);
    for (const name of new Set(names))
      counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([rule, hosts]) => ({ rule, hosts }));
}
