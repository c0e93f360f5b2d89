import type { Layout } from "../layout/layout.js";
import type { GroupModel } from "../model/pool-model.js";
import type { Rule } from "../model/rule.js";
import type { HostRule } from "./host-rule.js";

/** Strict groups: no two members on one host, or all on one. */
export const groups: HostRule = {
  name: "group",
  matters: ({ pool }) => pool.groups.models.some(({ strict }) => strict),
  allows: (layout, vm, host) => {
    const { groupsOf } = layout.pool.groups;
    const end = groupsOf.offsets[vm + 1] ?? 0;
    for (let at = groupsOf.offsets[vm] ?? 0; at < end; at++)
      if (!groupAllows(layout, groupsOf.values[at]!, vm, host)) return false;
    return true;
  },
  explain: (layout, vm, host) => {
    const { groupsOf, models } = layout.pool.groups;
    const end = groupsOf.offsets[vm + 1] ?? 0;
    const out: Rule[] = [];
    for (let at = groupsOf.offsets[vm] ?? 0; at < end; at++) {
      const group = groupsOf.values[at]!;
      if (groupAllows(layout, group, vm, host)) continue;
      const other = inTheWay(layout, group, vm, host);
      const name = layout.pool.vms.ids[other]!;
      out.push({ rule: "group", group: models[group]!.id, vm: name });
    }
    return out;
  },
};

function groupAllows(
  layout: Layout,
  group: number,
  vm: number,
  host: number,
): boolean {
  const { strict, kind } = layout.pool.groups.models[group]!;
  if (!strict) return true;
  if (kind === "apart") return layout.members.get(group, host) === 0;
  return inTheWay(layout, group, vm, host) < 0;
}

/** A member for whose sake the group keeps the VM out; -1: none. */
function inTheWay(
  { pool, hostOf }: Layout,
  group: number,
  vm: number,
  host: number,
): number {
  const { vmsOf, models } = pool.groups;
  const { kind }: GroupModel = models[group]!;
  for (let at = vmsOf.offsets[group]!; at < vmsOf.offsets[group + 1]!; at++) {
    const other = vmsOf.values[at]!;
    const there = hostOf[other]!;
    if (other === vm || there < 0) continue;
    if ((there === host) === (kind === "apart")) return other;
  }
  return -1;
}
