/** A value's own property; undefined where there is none, and for null and undefined. */
export function propertyOf(value: unknown, name: string): unknown {
  return value !== null && value !== undefined && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

/** What stands at the end of a path of property names; undefined where it breaks off. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const name of path) at = propertyOf(at, name);
  return at;
}
