/** What JSON can say. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

/**
 * The merge patch (RFC 7386) that leads from `before` to `after`; undefined when
 * nothing differs.
 *
 * In a merge patch null means "gone", so a member that is null and one that is
 * absent are the same thing to whoever applies it.
 */
export function diff(before: Json, after: Json): Json | undefined {
  if (!isObject(before) || !isObject(after))
    return isSame(before, after) ? undefined : after;
  const patch: [string, Json][] = [];
  for (const [key, value] of Object.entries(after)) {
    const old = Object.hasOwn(before, key) ? before[key]! : null;
    const change = diff(old, value);
    if (change !== undefined) patch.push([key, change]);
  }
  for (const [key, old] of Object.entries(before)) {
    if (!Object.hasOwn(after, key) && old !== null) patch.push([key, null]);
  }
  // fromEntries defines keys, it does not assign them: `__proto__` is a key like any other.
  return patch.length === 0 ? undefined : Object.fromEntries(patch);
}

/** Lists are replaced as a whole, so they are compared as a whole. */
function isSame(one: Json, other: Json): boolean {
  if (one === other) return true;
  return (
    Array.isArray(one) &&
    Array.isArray(other) &&
    JSON.stringify(one) === JSON.stringify(other)
  );
}

function isObject(value: Json): value is Readonly<Record<string, Json>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
