export type Row = Readonly<Record<string, unknown>>;

/** `memory.size` and `memory:size` are the same path. */
function partsOf(path: string): string[] {
  return path.split(path.includes(".") ? "." : ":");
}

/** The value at a path such as `memory.size`; undefined: none. */
export function valueAt(row: Row, path: string): unknown {
  let value: unknown = row;
  for (const name of partsOf(path)) {
    if (typeof value !== "object" || value === null) return undefined;
    if (!Object.hasOwn(value, name)) return undefined;
    value = (value as Row)[name];
  }
  return value;
}

/** Top-level members of the paths. */
export function topLevel(paths: readonly string[]): string[] {
  return [...new Set(paths.map((path) => partsOf(path)[0]!))];
}

/** An object with the paths as keys, for machine-readable output. */
export function pick(row: Row, paths: readonly string[]): Row {
  return Object.fromEntries(
    paths
      .map((path) => [path, valueAt(row, path)] as const)
      .filter(([, value]) => value !== undefined),
  );
}
