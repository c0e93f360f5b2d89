import { readStored, writeStored } from "../browser/stored-value.js";

const KEY = "tree-open";
/** Maximum number of stored choices; the oldest are removed. */
const MAX_NODES = 300;

/** Nodes that the user has expanded and collapsed, stored in this browser. */
export function recallOpen(): ReadonlyMap<string, boolean> {
  try {
    const entries: unknown = JSON.parse(readStored(KEY) ?? "[]");
    return new Map(
      (Array.isArray(entries) ? entries : []).filter(
        (entry): entry is [string, boolean] =>
          Array.isArray(entry) &&
          typeof entry[0] === "string" &&
          typeof entry[1] === "boolean",
      ),
    );
  } catch {
    return new Map();
  }
}

/** The choices with one added, which is stored. */
export function rememberOpen(
  choices: ReadonlyMap<string, boolean>,
  key: string,
  isOpen: boolean,
): ReadonlyMap<string, boolean> {
  const next = new Map(choices);
  next.delete(key);
  next.set(key, isOpen);
  for (const oldest of next.keys()) {
    if (next.size <= MAX_NODES) break;
    next.delete(oldest);
  }
  writeStored(KEY, JSON.stringify([...next]));
  return next;
}
