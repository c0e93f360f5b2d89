import { conflictOf } from "../conflict/conflict-of.js";
import { hostsIn } from "../solver/decide.js";
import { fitDecreasing } from "../solver/fit-decreasing.js";
import {
  assignAndExplain,
  type AssignOptions,
} from "../conflict/assign-and-explain.js";
import { DEFAULT_BUDGET } from "../solver/assign.js";
import { Packing } from "../solver/packing.js";
import { toProblem } from "../solver/problem.js";
import { allRules } from "../solver/active-rules.js";
import type { Assignment } from "../assignment/assignment.js";
import type { Conflict } from "../model/refusal.js";
import type { Survival } from "../model/survival.js";
import type { FailureModel } from "./failure-model.js";

/** Above this number of VMs only capacity is considered. */
const MAX_VMS_TO_ASSIGN = 2_000;

/** Returns which VMs a failing set of hosts leaves unplaced, with reasons. */
export function toWorstSet(
  { now, restarting }: FailureModel,
  failing: readonly number[],
  options: AssignOptions,
): NonNullable<Survival["worst"]> {
  const { hosts, vms } = now.pool;
  const requested = failing.flatMap((host) => restarting[host]!);
  requested.sort((a, b) => a - b);
  const assignment = now.withHostsDown(failing);
  const place =
    requested.length > MAX_VMS_TO_ASSIGN ? assignByCapacity : assignAndExplain;
  const { unplaced, conflict } = place(assignment, requested, options);
  return {
    hosts: failing.map((host) => hosts.ids[host]!),
    unplaced: unplaced.map((vm) => vms.ids[vm]!),
    ...(conflict && { conflict }),
  };
}

interface RoughResult {
  readonly unplaced: readonly number[];
  readonly conflict?: Conflict;
}

/** Assigns by capacity only, like `assignAndExplain`, VMs that are known not to fit. */
function assignByCapacity(
  assignment: Assignment,
  requested: readonly number[],
  { budget = DEFAULT_BUDGET, explains = true }: AssignOptions,
): RoughResult {
  const packing = new Packing(
    toProblem(assignment, requested, allRules(assignment)),
  );
  fitDecreasing(packing, "fullest");
  const placed = hostsIn(packing);
  const unplaced = requested.filter((vm) => !placed.has(vm));
  const conflict = explains
    ? conflictOf(assignment, requested, budget)
    : undefined;
  return { unplaced, ...(conflict && { conflict }) };
}
