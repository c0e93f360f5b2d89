import type { BalancerRun } from "@xo-server/store";
import type { Facts } from "./decide.js";
import { recordOf } from "./deprecated-names.js";
import type { MoveRecord } from "./run-record.js";

type RunFacts = Pick<Facts, "movedAt" | "dryRunAt" | "failures" | "failedAt">;

/**
 * What previous runs mean for the next decision.
 * @param runs newest first
 * @param resetAt failures before do not count, ms since the epoch
 */
export function factsOf(
  runs: readonly BalancerRun[],
  resetAt: number,
): RunFacts {
  const moved = runs.find((run) => recordOf(run).moves.some(hasStarted));
  const dry = runs.find((run) => isAutomaticDryRun(run));
  const failed = failuresOf(runs, resetAt);
  return {
    movedAt: moved && endOf(moved),
    dryRunAt: dry && endOf(dry),
    failures: failed.length,
    failedAt: failed[0] && endOf(failed[0]),
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
  return status === "migrating" || status === "done" || status === "failed";
}

function endOf({ startedAt, endedAt = startedAt }: BalancerRun): number {
  return endedAt;
}
