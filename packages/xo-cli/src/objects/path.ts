export type Row = Readonly<Record<string, unknown>>;

/** The value at `memory.size`; undefined where there is none. */
export function valueAt(row: Row, path: string): unknown {
  let value: unknown = row;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null) return undefined;
    if (!Object.hasOwn(value, name)) return undefined;
    value = (value as Row)[name];
  }
  return value;
}

/** The members that a server has to be asked for. */
export function topLevel(paths: readonly string[]): string[] {
  return [...new Set(paths.map((path) => path.split(".")[0]!))];
}

/** An object with the paths as its names, for programs. */
export function pick(row: Row, paths: readonly string[]): Row {
  return Object.fromEntries(
    paths
      .map((path) => [path, valueAt(row, path)] as const)
      .filter(([, value]) => value !== undefined),
  );
}
