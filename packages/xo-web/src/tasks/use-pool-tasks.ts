import { computed, type ComputedRef } from "vue";
import { useWindow, type LiveRows } from "../live/use-window.js";
import type { ObjectRow } from "../api/object-row.js";
import { poolTaskItem, type TaskItem } from "./task.js";

const fields = [
  "id",
  "type",
  "name_label",
  "status",
  "progress",
  "created",
  "finished",
  "result",
  "allowedOperations",
  "$host",
  "$pool",
];

interface PoolTasks {
  /** The newest first. */
  readonly tasks: ComputedRef<readonly TaskItem[]>;
  readonly window: LiveRows<ObjectRow>;
}

/** The newest running and ended tasks of pools, live, up to a limit. */
export function usePoolTasks(
  filter: () => string | undefined,
  limit: number,
): PoolTasks {
  const window = useWindow<ObjectRow>(() => {
    const requested = filter();
    if (requested === undefined) return undefined;
    const sort = [{ by: "created", descending: true }];
    return { type: "task", filter: requested, sort, fields, offset: 0, limit };
  });
  return {
    window,
    tasks: computed(() => window.rows.value.map(poolTaskItem)),
  };
}
