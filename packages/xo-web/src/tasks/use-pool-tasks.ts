import { computed, type ComputedRef } from "vue";
import { isObject } from "@xo-server/kit";
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

/** Maximum number of VMs that are read with their current operations. */
const MAX_VMS = 500;

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
  const vmOf = useVmsOfTasks(window);
  return {
    window,
    tasks: computed(() =>
      window.rows.value.map((row) => poolTaskItem(row, vmOf.value.get(row.id))),
    ),
  };
}

/** A XAPI task names its host; the VM that it works on names the task in its current operations. */
function useVmsOfTasks({
  rows,
}: LiveRows<ObjectRow>): ComputedRef<ReadonlyMap<string, string>> {
  const isNeeded = computed(() =>
    rows.value.some(
      ({ status, name_label = "" }) =>
        status === "pending" && /^(Async\.)?VM\./.test(name_label),
    ),
  );
  const busy = useWindow<ObjectRow>(() =>
    isNeeded.value
      ? {
          type: "VM",
          filter: "current_operations:/./",
          fields: ["id", "type", "current_operations"],
          offset: 0,
          limit: MAX_VMS,
        }
      : undefined,
  );
  return computed(() => {
    const found = new Map<string, string>();
    for (const { id, current_operations: operations } of busy.rows.value)
      if (isObject(operations))
        for (const task of Object.keys(operations)) found.set(task, id);
    return found;
  });
}
