import type { Layout } from "../layout/layout.js";
import { DOWN } from "../pool/indexed-pool.js";
import type { HostRule } from "./host-rule.js";

/** The host that it would have to leave while it runs; -1: none. */
function leaves({ pool }: Layout, vm: number, host: number): number {
  const from = pool.vmHost[vm]!;
  const runs = from >= 0 && pool.hostState[from] !== DOWN;
  return runs && from !== host ? from : -1;
}

/** What runs on one kind of CPU does not go on on another. */
export const cpu: HostRule = {
  name: "cpu",
  matters: ({ pool }) =>
    new Set(pool.hostModels.map(({ cpu: found }) => found)).size > 1,
  allows: (layout, vm, host) => {
    if (leaves(layout, vm, host) < 0) return true;
    const needs = layout.pool.vmModels[vm]!.cpu;
    return needs === undefined || layout.pool.hostModels[host]!.cpu === needs;
  },
  explain: (layout, vm, host) => {
    if (cpu.allows(layout, vm, host)) return [];
    return [{ rule: "cpu", needs: layout.pool.vmModels[vm]!.cpu! }];
  },
};

export const pinned: HostRule = {
  name: "pinned",
  allows: (layout, vm, host) =>
    layout.pool.vmModels[vm]!.pinned === undefined ||
    leaves(layout, vm, host) < 0,
  explain: (layout, vm, host) => {
    if (pinned.allows(layout, vm, host)) return [];
    return [{ rule: "pinned", reason: layout.pool.vmModels[vm]!.pinned! }];
  },
};
