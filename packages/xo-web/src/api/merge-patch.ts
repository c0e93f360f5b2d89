/** What JSON can say. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

export type JsonObject = Readonly<Record<string, Json>>;

/**
 * Applies a merge patch (RFC 7386) and leaves its arguments alone.
 *
 * What the patch does not change keeps its identity, so a view that compares by
 * reference redraws only what is new. Objects that it makes have no prototype:
 * a key such as `__proto__` from the wire is a key like any other.
 */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const before = isObject(target) ? target : undefined;
  const after = Object.assign(emptyObject(), before);
  let changed = before === undefined;
  for (const [key, value] of Object.entries(patch)) {
    const had = Object.hasOwn(after, key);
    if (value === null) {
      changed ||= had;
      delete after[key];
      continue;
    }
    const merged = mergePatch(had ? after[key] : undefined, value);
    changed ||= !had || merged !== after[key];
    after[key] = merged;
  }
  return changed || before === undefined ? after : before;
}

/** Whether it is a JSON object: neither null nor an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function emptyObject(): Record<string, Json> {
  return Object.create(null) as Record<string, Json>;
}
