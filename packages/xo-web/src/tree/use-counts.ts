import { onScopeDispose, shallowRef, watch, type ShallowRef } from "vue";
import { isObject, type Json } from "@xo-server/kit";
import { useServer } from "../live/use-server.js";

type TreeCounts = ReadonlyMap<string, number>;

/** Maximum age of a number beside a node, in ms; those of expanded nodes are live. */
const INTERVAL_MS = 10_000;

/**
 * The number of VMs for each value of each path: polled, while the page and
 * they are visible. Without a value: "".
 */
export function useCounts(
  paths: readonly string[],
  isVisible: (path: string) => boolean,
): Readonly<Record<string, ShallowRef<TreeCounts>>> {
  const { call, whenOpen } = useServer();
  const counts: Record<string, ShallowRef<TreeCounts>> = {};
  for (const path of paths) counts[path] = shallowRef(new Map());

  async function read(path: string): Promise<void> {
    const groups = await call("query.group", { type: "VM", by: path });
    counts[path]!.value = toCounts(groups);
  }

  function readAll(): void {
    if (document.visibilityState === "hidden") return;
    // The previous numbers stay until new ones arrive.
    for (const path of paths)
      if (isVisible(path)) read(path).catch(() => undefined);
  }

  whenOpen(readAll);
  watch(() => paths.map(isVisible).join(), readAll);
  const timer = setInterval(readAll, INTERVAL_MS);
  onScopeDispose(() => {
    clearInterval(timer);
  });
  return counts;
}

function toCounts(groups: Json): TreeCounts {
  const counts = new Map<string, number>();
  for (const group of Array.isArray(groups) ? groups : [])
    if (isObject(group)) {
      const { key = "", count } = group;
      if (typeof key === "string") counts.set(key, Number(count));
    }
  return counts;
}
