import type { Layout } from "../layout/layout.js";
import type { Action, Purpose } from "../model/plan.js";
import { scoreOf } from "../place/score.js";

/** The start of a VM where the layout has it. The score is that of its host without it, all others being there. */
export function toStart(layout: Layout, vm: number, purpose: Purpose): Action {
  const { pool, hostOf } = layout;
  const host = hostOf[vm]!;
  layout.release(vm, host);
  const score = scoreOf(layout, vm, host);
  layout.hold(vm, host);
  return {
    kind: "start",
    purpose,
    score,
    after: [],
    vm: pool.vms.ids[vm]!,
    to: pool.hosts.ids[host]!,
    order: pool.vmModels[vm]!.restart?.order ?? 0,
  };
}
