/**
 * Path of a value in an object: `["memory", "size"]`. A name with dots is one
 * part.
 */
export type ValuePath = readonly string[];

/** Parses the notations of requests: `memory.size`, and `memory:size` as in filters. */
export function toPath(text: string): ValuePath {
  return text.split(text.includes(".") ? "." : ":");
}

/** Map key of a path. */
export function pathKey(path: ValuePath): string {
  return JSON.stringify(path);
}
