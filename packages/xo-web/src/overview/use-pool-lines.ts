import { computed, shallowRef, watch, type ComputedRef } from "vue";
import { isObject } from "@xo-server/kit";
import type { ColumnTable } from "../live/column-table.js";
import { useServer } from "../live/use-server.js";
import { poolLines, type PoolLine } from "./pool-rows.js";

/** Pools with the state of their connection, live. */
export function usePoolLines(
  pools: () => ColumnTable | undefined,
): ComputedRef<readonly PoolLine[]> {
  const { call, view, whenOpen } = useServer();
  const poolOf = shallowRef<ReadonlyMap<string, string>>(new Map());
  function readServers(): void {
    // Only administrators get servers; for other users names are enough.
    call("server.getAll").then(
      (answer) => {
        const servers = Array.isArray(answer) ? answer.filter(isObject) : [];
        poolOf.value = new Map(
          servers.flatMap(({ id, poolId }) =>
            typeof poolId === "string" ? [[id as string, poolId] as const] : [],
          ),
        );
      },
      () => undefined,
    );
  }
  whenOpen(readServers);
  // The server knows the pool of a connection only when it is connected.
  const unknown = computed(() => {
    const connections = Object.values(view.value.status?.pools ?? {});
    const ids = connections
      .filter(({ id, state }) => state === "watching" && !poolOf.value.has(id))
      .map(({ id }) => id);
    return ids.length === 0 ? "" : [...ids, ...(pools()?.ids ?? [])].join();
  });
  watch(unknown, (ids) => {
    if (ids !== "") readServers();
  });
  return computed(() => {
    const table = pools();
    const names = table?.values("name_label") ?? [];
    return poolLines(
      Object.values(view.value.status?.pools ?? {}).filter(
        ({ isRestricted }) => isRestricted !== true,
      ),
      new Map((table?.ids ?? []).map((id, i) => [id, String(names[i] ?? "")])),
      poolOf.value,
    );
  });
}
