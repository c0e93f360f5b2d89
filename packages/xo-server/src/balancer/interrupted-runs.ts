import type { WallClock } from "@xo-server/kit";
import type { BalancerRun, Store } from "@xo-server/store";
import type { PoolObjects } from "../objects/pool-objects.js";
import type { RunningTask } from "../tasks/running-task.js";
import type { MoveRecord } from "./run-record.js";
import { recordOf } from "./stored-json.js";

interface InterruptedRunsParts {
  readonly store: Pick<Store, "balancerRuns">;
  readonly objects: Pick<PoolObjects, "find">;
  readonly clock: Pick<WallClock, "now">;
}

/** Number of the newest runs of a pool among which that of a task is. */
const NEWEST = 20;

/**
 * The migrations of a run: none is in progress or waits after its end. Runs of servers that ended
 * meanwhile may have been stored with such migrations.
 */
export function movesOf(run: BalancerRun): readonly MoveRecord[] {
  const { moves } = recordOf(run);
  return run.status === "pending" ? moves : moves.map(toEnded);
}

function toEnded(move: MoveRecord): MoveRecord {
  if (move.status === "migrating") return { ...move, status: "interrupted" };
  return move.status === "waiting" ? { ...move, status: "skipped" } : move;
}

/**
 * Ends the run of a task of a server that ended, if the task is one of a load balancer. VMs that the pool has meanwhile migrated are
 * recorded as such.
 * @param untilReady resolves when the XAPI tasks of the task have ended
 * @throws XoError STORE_UNAVAILABLE
 */
export async function endInterruptedRun(
  task: Pick<RunningTask, "id" | "subject">,
  untilReady: () => Promise<unknown>,
  { store, objects, clock }: InterruptedRunsParts,
): Promise<void> {
  const { objectType, objectId: pool } = task.subject;
  if (objectType !== "pool") return;
  const { runs } = await store.balancerRuns.list({ pool, limit: NEWEST });
  const run = runs.find((one) => belongsTo(one, task));
  if (run === undefined) return;
  await untilReady();
  const record = recordOf(run);
  const now = clock.now();
  const settle = (move: MoveRecord): MoveRecord =>
    move.status === "migrating" && hostOf(move.vm, objects) === move.to
      ? { ...move, status: "done", endedAt: now }
      : toEnded(move);
  await store.balancerRuns.write(run.id, {
    status: "interrupted",
    endedAt: run.endedAt ?? now,
    body: { ...record, moves: record.moves.map(settle) },
  });
}

/** Whether a run that no server has ended is that of the task; a run begins shortly before it names its task. */
function belongsTo(
  run: BalancerRun,
  { id, subject }: Pick<RunningTask, "id" | "subject">,
): boolean {
  const { run: named } = subject.params as { readonly run?: unknown };
  const isOf =
    run.taskId === id ||
    run.id === named ||
    (run.taskId === undefined && subject.operation === "balancer.run");
  return isOf && (run.status === "pending" || run.status === "interrupted");
}

/** @returns undefined: the VM does not exist, or does not run */
function hostOf(vm: string, objects: InterruptedRunsParts["objects"]): unknown {
  return objects.find(vm)?.object["$container"];
}
