import { conflictOf } from "../conflict/conflict-of.js";
import { hostsIn } from "../fit/decide.js";
import { dive } from "../fit/dive.js";
import { fit, type FitOptions } from "../fit/fit.js";
import { Packing } from "../fit/packing.js";
import { toProblem } from "../fit/problem.js";
import { allRules } from "../fit/rules-in-force.js";
import type { Layout } from "../layout/layout.js";
import type { Conflict } from "../model/rule.js";
import type { Survival } from "../model/survival.js";
import type { Fleet } from "./fleet.js";

/** Of more VMs than these nobody asks on which host each is best. */
const MOST_TO_PLAN = 2_000;
const BUDGET = 100_000;

/** What a set of failures that is not survived leaves without a place, and why. */
export function toWorst(
  { now, fallen }: Fleet,
  failing: readonly number[],
  options: FitOptions,
): NonNullable<Survival["worst"]> {
  const { hosts, vms } = now.pool;
  const wanted = failing.flatMap((host) => fallen[host]!);
  wanted.sort((a, b) => a - b);
  const layout = now.withHostsOut(failing);
  const place = wanted.length > MOST_TO_PLAN ? fitRoughly : fit;
  const { unplaced, conflict } = place(layout, wanted, options);
  return {
    hosts: failing.map((host) => hosts.ids[host]!),
    unplaced: unplaced.map((vm) => vms.ids[vm]!),
    ...(conflict && { conflict }),
  };
}

interface Rough {
  readonly unplaced: readonly number[];
  readonly conflict?: Conflict;
}

/** As `fit`, by room alone, for what is known not to fit. */
function fitRoughly(
  layout: Layout,
  wanted: readonly number[],
  { budget = BUDGET, explains = true }: FitOptions,
): Rough {
  const packing = new Packing(toProblem(layout, wanted, allRules(layout)));
  dive(packing, "fullest");
  const placed = hostsIn(packing);
  const unplaced = wanted.filter((vm) => !placed.has(vm));
  const conflict = explains ? conflictOf(layout, wanted, budget) : undefined;
  return { unplaced, ...(conflict && { conflict }) };
}
