/** Where a value lies in an object: `["memory", "size"]`. A name with dots is one part. */
export type ValuePath = readonly string[];

/** The path that a request writes with dots. */
export function toPath(text: string): ValuePath {
  return text.split(".");
}

/** Equal for equal paths only. */
export function pathKey(path: ValuePath): string {
  return JSON.stringify(path);
}
