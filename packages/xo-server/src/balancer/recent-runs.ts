import type { BalancerRun } from "@xo-server/store";
import type { PoolConditions } from "./decide.js";
import { recordOf } from "./stored-json.js";
import { VM_CHANGED } from "./pool-run.js";
import type { MoveRecord } from "./run-record.js";
import type { RunStop } from "./state.js";

type RunHistory = Pick<
  PoolConditions,
  "movedAt" | "dryRunAt" | "failures" | "ineffective" | "failedAt" | "stop"
>;

/** Time for which a VM that changed between planning and migration is not planned again, in ms. */
const CHANGED_MS = 300_000;

/**
 * What previous runs mean for the next decision.
 * @param runs newest first
 * @param resetAt failures before do not count, ms since the epoch
 */
export function runHistoryOf(
  runs: readonly BalancerRun[],
  resetAt: number,
): RunHistory {
  const moved = runs.find((run) => recordOf(run).moves.some(hasStarted));
  const dry = runs.find((run) => isAutomaticDryRun(run));
  const failed = failuresOf(runs, resetAt);
  const ineffective = withoutEffectOf(runs, resetAt);
  const last = failed[0] ?? ineffective[0];
  return {
    movedAt: moved && endOf(moved),
    dryRunAt: dry && endOf(dry),
    failures: failed.length,
    ineffective: ineffective.length,
    failedAt: last && endOf(last),
    stop: last && stopOf(last),
  };
}

/**
 * VMs migrated after `since`. Migrations that were in progress when a server
 * crashed count.
 */
export function vmsInCooldown(
  runs: readonly BalancerRun[],
  since: number,
): Set<string> {
  const vms = new Set<string>();
  for (const run of runs)
    for (const move of recordOf(run).moves)
      if (hasStarted(move) && (move.endedAt ?? endOf(run)) > since)
        vms.add(move.vm);
  return vms;
}

/** VMs that a run skipped recently because they had changed since planning. */
export function vmsChanged(
  runs: readonly BalancerRun[],
  now: number,
): Set<string> {
  const vms = new Set<string>();
  for (const run of runs)
    if (endOf(run) > now - CHANGED_MS)
      for (const { vm, error } of recordOf(run).moves)
        if (error?.code === VM_CHANGED) vms.add(vm);
  return vms;
}

/**
 * Why a run was not completed; undefined: it was. It names the VM that failed
 * or changed, if there is one.
 */
export function stopOf(run: BalancerRun): RunStop | undefined {
  const { moves, reason } = recordOf(run);
  if (run.status !== "failure" && run.status !== "stopped") return undefined;
  const { code = run.status, message = run.status } = reason ?? {};
  const vm = moves.find(({ error }) => error !== undefined)?.vm;
  return {
    kind: run.status === "failure" ? "failed" : "stopped",
    code,
    message,
    ...(vm === undefined ? {} : { vm }),
  };
}

/** Whether a run started no migration because VMs had changed. */
export function isIneffective(run: BalancerRun): boolean {
  const { moves, reason } = recordOf(run);
  return (
    run.status === "stopped" &&
    reason?.code === VM_CHANGED &&
    !moves.some(hasStarted)
  );
}

/** Consecutive automatic runs that started no migration, newest first. */
function withoutEffectOf(
  runs: readonly BalancerRun[],
  resetAt: number,
): readonly BalancerRun[] {
  const found: BalancerRun[] = [];
  for (const run of runs) {
    const { moves, by } = recordOf(run);
    const hasEnded = run.startedAt < resetAt || run.status === "success";
    if (hasEnded || moves.some(hasStarted)) break;
    if (isIneffective(run) && by.cause === "automatic") found.push(run);
  }
  return found;
}

/** Consecutive failed runs, newest first, since the last success or reset. */
function failuresOf(
  runs: readonly BalancerRun[],
  resetAt: number,
): readonly BalancerRun[] {
  const failed: BalancerRun[] = [];
  for (const run of runs) {
    if (run.startedAt < resetAt || run.status === "success") break;
    if (run.status === "failure") failed.push(run);
  }
  return failed;
}

function isAutomaticDryRun(run: BalancerRun): boolean {
  return run.status === "dry-run" && recordOf(run).by.cause === "automatic";
}

function hasStarted({ status }: MoveRecord): boolean {
  return STARTED.has(status);
}

const STARTED: ReadonlySet<MoveRecord["status"]> = new Set([
  "migrating",
  "done",
  "failed",
  "interrupted",
]);

function endOf({ startedAt, endedAt = startedAt }: BalancerRun): number {
  return endedAt;
}
