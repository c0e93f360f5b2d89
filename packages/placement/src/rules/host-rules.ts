import type { Layout } from "../layout/layout.js";
import type { Rule } from "../model/rule.js";
import { devices, memory, vcpus } from "./capacity.js";
import { groups } from "./groups.js";
import type { HostRule } from "./host-rule.js";
import { reach, state } from "./reach.js";
import { cpu, pinned } from "./running.js";

/** In the order in which they are asked: cheap ones, and those that refuse most, first. */
const ALL: readonly HostRule[] = [
  ...[state, memory, reach, groups, devices, vcpus, cpu, pinned],
];

/** Rules that a pool gives a reason for: the others are never asked. */
export function rulesFor(layout: Layout): readonly HostRule[] {
  return ALL.filter(({ matters }) => matters?.(layout) ?? true);
}

export function allows(
  rules: readonly HostRule[],
  layout: Layout,
  vm: number,
  host: number,
): boolean {
  for (const rule of rules) if (!rule.allows(layout, vm, host)) return false;
  return true;
}

/** All that keeps a VM out of a host; none: it can go there. */
export function refusalsOf(layout: Layout, vm: number, host: number): Rule[] {
  return ALL.flatMap((rule) => rule.explain(layout, vm, host));
}
