/** An own property of a value; undefined if missing, and for null and undefined. */
export function propertyOf(value: unknown, name: string): unknown {
  return value !== null && value !== undefined && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

/** The value at a path of property names; undefined if the path does not exist. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const name of path) at = propertyOf(at, name);
  return at;
}
