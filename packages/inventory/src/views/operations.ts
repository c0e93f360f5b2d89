import type { ViewLinks } from "./view.js";
import { isMap, setMember, toTextMap, type TextMap } from "./values/maps.js";

/**
 * Current operations by task id; operations of tasks that no longer exist are
 * left out.
 */
export function readOperations(value: unknown, links: ViewLinks): TextMap {
  const operations: Record<string, string> = {};
  if (!isMap(value)) return operations;
  for (const ref in value) {
    const operation = value[ref];
    const task = links.id("task", ref);
    if (task !== undefined && typeof operation === "string")
      setMember(operations, task, operation);
  }
  return operations;
}

/**
 * Current operations by task reference: the form that clients expect for all
 * objects but VMs.
 */
export const readRawOperations = toTextMap;
