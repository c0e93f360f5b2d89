import type { TaskContext } from "./task-context.js";

/**
 * For work outside of this process, such as that of a worker: aborted when the task is cancelled, and when another
 * server has adopted it, which does the same work.
 */
export function ownedSignal({
  signal,
  lease,
}: Pick<TaskContext, "signal" | "lease">): AbortSignal {
  return lease === undefined ? signal : AbortSignal.any([signal, lease.signal]);
}
