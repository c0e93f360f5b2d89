import type { ViewLinks } from "./view.js";
import { isMap, setMember, toTextMap, type TextMap } from "./values/maps.js";

/** What goes on with an object, by the id of the task; operations of tasks that are gone are left out. */
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

/** The same by the reference of the task, as clients know it of everything but VMs. */
export const readRawOperations = toTextMap;
