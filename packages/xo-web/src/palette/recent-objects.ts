import { readStored, writeStored } from "../browser/stored-value.js";
import type { ObjectName } from "./route-object.js";

const key = "recent-objects";
const MAX_OBJECTS = 12;

/** Objects whose pages were opened last, newest first. */
export function recentObjects(): readonly ObjectName[] {
  try {
    const answer: unknown = JSON.parse(readStored(key) ?? "[]");
    return Array.isArray(answer)
      ? answer.filter(isObjectName).slice(0, MAX_OBJECTS)
      : [];
  } catch {
    return [];
  }
}

/** Puts an object first among those visited last, in the storage of the browser. */
export function addVisit({ type, id }: ObjectName): void {
  const others = recentObjects().filter((one) => one.id !== id);
  writeStored(
    key,
    JSON.stringify([{ type, id }, ...others].slice(0, MAX_OBJECTS)),
  );
}

function isObjectName(one: unknown): one is ObjectName {
  if (typeof one !== "object" || one === null) return false;
  const { type, id } = one as Partial<ObjectName>;
  // Ids are inserted into a filter, so their characters are checked.
  return (
    typeof type === "string" && typeof id === "string" && /^[\w-]+$/.test(id)
  );
}
