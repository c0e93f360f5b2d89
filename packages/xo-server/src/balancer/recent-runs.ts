import type { BalancerRun } from "@xo-server/store";
import type { Facts } from "./decide.js";
import { recordOf, type MoveRecord } from "./run-record.js";

type RunFacts = Pick<Facts, "movedAt" | "dryRunAt" | "failures" | "failedAt">;

/**
 * What runs of before mean for the next.
 * @param runs newest first
 * @param lookedAt when somebody has last looked, in ms since the epoch: failures of before do not count
 */
export function factsOf(
  runs: readonly BalancerRun[],
  lookedAt: number,
): RunFacts {
  const moved = runs.find((run) => recordOf(run).moves.some(hasBegun));
  const dry = runs.find((run) => isDryByItself(run));
  const failed = failuresOf(runs, lookedAt);
  return {
    movedAt: moved && endOf(moved),
    dryRunAt: dry && endOf(dry),
    failures: failed.length,
    failedAt: failed[0] && endOf(failed[0]),
  };
}

/** VMs that were moved after that time, as far as these runs tell. What a server was at when it died counts. */
export function coolingVms(
  runs: readonly BalancerRun[],
  since: number,
): Set<string> {
  const vms = new Set<string>();
  for (const run of runs)
    for (const move of recordOf(run).moves)
      if (hasBegun(move) && (move.endedAt ?? endOf(run)) > since)
        vms.add(move.vm);
  return vms;
}

/** The newest first; one that went well ends them, as somebody does who looks. */
function failuresOf(
  runs: readonly BalancerRun[],
  lookedAt: number,
): readonly BalancerRun[] {
  const failed: BalancerRun[] = [];
  for (const run of runs) {
    if (run.startedAt < lookedAt || run.status === "success") break;
    if (run.status === "failure") failed.push(run);
  }
  return failed;
}

function isDryByItself(run: BalancerRun): boolean {
  return run.status === "dry-run" && recordOf(run).by.cause === "automatic";
}

function hasBegun({ status }: MoveRecord): boolean {
  return status === "moving" || status === "done" || status === "failed";
}

function endOf({ startedAt, endedAt = startedAt }: BalancerRun): number {
  return endedAt;
}
