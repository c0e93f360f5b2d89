import type { Job, Store } from "@xo-server/store";
import type { PoolObjects } from "../objects/pool-objects.js";
import { poolsWithActiveRun } from "../rolling/rolling-records.js";

interface PausedPoolsParts {
  readonly settings: Pick<Store["settings"], "list">;
  readonly objects: Pick<PoolObjects, "find">;
  /** Returns what a run would do; ids of objects may be anywhere in the result. */
  readonly plan: (job: Job) => Promise<object>;
}

/**
 * Why a scheduled run of a job does not begin: it concerns a pool with a rolling
 * update or reboot. Undefined: it may begin.
 */
export async function pausedReason(
  job: Job,
  { settings, objects, plan }: PausedPoolsParts,
): Promise<string | undefined> {
  const paused = poolsWithActiveRun(settings);
  if (paused.size === 0) return undefined;
  let planned: object;
  try {
    planned = await plan(job);
  } catch {
    // The run itself reports the error.
    return undefined;
  }
  for (const text of textsIn(planned)) {
    const found = objects.find(text)?.object;
    const kind = paused.get(String(found?.["$pool"])) ?? paused.get(text);
    if (found !== undefined && kind !== undefined)
      return `a rolling ${kind} of the pool was in progress`;
  }
  return undefined;
}

/** All strings in a value, at any depth: they may be ids of objects. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "string") {
    // The length of a UUID.
    if (value.length === 36) yield value;
  } else if (typeof value === "object" && value !== null)
    for (const member of Object.values(value)) yield* textsIn(member);
}
