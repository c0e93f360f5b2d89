import type { Store } from "@xo-server/store";
import type { PoolObjects } from "../objects/pool-objects.js";
import type { TaskContext } from "../tasks/task-context.js";
import { poolsOfTask } from "./rolling-records.js";
import type { RollingParts } from "./rolling-parts.js";
import { stopOrphan } from "./stop-orphan.js";

interface OrphansParts extends Pick<RollingParts, "records" | "clock"> {
  readonly settings: Pick<Store["settings"], "list">;
  readonly objects: PoolObjects;
}

/**
 * Stops the runs of a task of the previous process that is not resumed.
 * @param untilReady resolves when pools are connected and XAPI tasks of the
 * previous process have ended
 * @returns the error for clients; undefined: the task has no such run
 */
export async function stopOrphansOf(
  task: TaskContext,
  reason: Error,
  untilReady: () => Promise<unknown>,
  { settings, objects, ...parts }: OrphansParts,
): Promise<Error | undefined> {
  const pools = poolsOfTask(settings, task.taskId ?? "");
  if (pools.length === 0) return undefined;
  await untilReady();
  const { signal } = task;
  const own = { ...parts, signal, work: task };
  const stops = await Promise.all(
    pools.map((pool) =>
      stopOrphan(pool, reason, {
        ...own,
        objects: objects.forTask(task).ofPool(pool),
      }).catch((error: unknown) => error as Error),
    ),
  );
  return stops.find((stop) => stop !== undefined);
}
