import { shallowRef, watch } from "vue";
import { isObject } from "@xo-server/kit";
import { useServer } from "../live/use-server.js";
import type { ObjectRow } from "../api/object-row.js";
import { hostKey, poolKey, restKey, runKey } from "./branches.js";
import type { Tree } from "./use-tree.js";

/** If a node has more VMs than this, the position of a VM in it is not searched. */
const MAX_ROWS = 5_000;

/**
 * Opens the ancestors of an object and scrolls to it, as soon as its position is known.
 * @param show scrolls to a line
 */
export function useReveal(
  { grouping, search, outline, runs, setOpen }: Tree,
  show: (line: number) => void,
): (object: ObjectRow) => void {
  const { call } = useServer();
  const requested = shallowRef<ObjectRow>();
  watch([requested, outline], () => {
    if (requested.value !== undefined) void find(requested.value);
  });

  async function find(object: ObjectRow): Promise<void> {
    const line = outline.value.lineOf(lineKeyOf(object));
    if (line === -1) return;
    requested.value = undefined;
    const position = object.type === "VM" ? await positionOf(object) : 0;
    if (position !== -1) show(line + position);
  }

  async function positionOf(vm: ObjectRow): Promise<number> {
    const key = lineKeyOf(vm);
    const known = runs.positionOf(key, vm.id);
    const run = outline.value.run(key);
    if (known !== -1 || run === undefined || run.total > MAX_ROWS) return known;
    const request = { ...run.request, fields: ["id"], limit: MAX_ROWS };
    // Without an answer the node is not revealed.
    const answer = await call("query.page", request).catch(() => null);
    const rows = isObject(answer) ? answer["rows"] : undefined;
    return (Array.isArray(rows) ? rows : []).findIndex(
      (row) => isObject(row) && row["id"] === vm.id,
    );
  }

  return (object) => {
    if (grouping.value !== "host" || search.value !== "") return;
    const { type, $pool } = object;
    if ($pool !== undefined && type !== "pool")
      setOpen(poolKey($pool), true, false);
    if (type === "VM") setOpen(containerKey(object), true, false);
    requested.value = object;
  };
}

function lineKeyOf(object: ObjectRow): string {
  if (object.type === "VM") return runKey(containerKey(object));
  return object.type === "host" ? hostKey(object.id) : poolKey(object.id);
}

function containerKey({ $container, $pool = "" }: ObjectRow): string {
  return typeof $container === "string" && $container !== $pool
    ? hostKey($container)
    : restKey($pool);
}
