import { isObject, type Json, type JsonObject } from "./json.js";

/**
 * Applies a JSON merge patch (RFC 7386). Neither argument is changed.
 *
 * Members that the patch does not change keep their identity, so a caller can
 * compare by reference. New objects have no prototype: a key such as
 * `__proto__` is a key like any other.
 */
export function applyMergePatch(target: Json | undefined, patch: Json): Json;
export function applyMergePatch(target: unknown, patch: unknown): unknown;
export function applyMergePatch(target: unknown, patch: unknown): unknown {
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
    const merged = applyMergePatch(had ? after[key] : undefined, value);
    changed ||= !had || merged !== after[key];
    after[key] = merged;
  }
  return changed || before === undefined ? after : before;
}

/**
 * The merge patch (RFC 7386) that turns `before` into `after`; undefined when
 * they are equal. In a merge patch null means "delete", so a null member and
 * an absent one are equal.
 */
export function createMergePatch(before: Json, after: Json): Json | undefined {
  if (!isObject(before) || !isObject(after))
    return isEqual(before, after) ? undefined : after;
  const members = [
    ...changedMembers(before, after),
    ...deletedMembers(before, after),
  ];
  // fromEntries defines keys, it does not assign them: `__proto__` is a key like any other.
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

function* changedMembers(
  before: JsonObject,
  after: JsonObject,
): Generator<[string, Json]> {
  for (const [key, value] of Object.entries(after)) {
    const old = Object.hasOwn(before, key) ? before[key]! : null;
    const change = createMergePatch(old, value);
    if (change !== undefined) yield [key, change];
  }
}

function* deletedMembers(
  before: JsonObject,
  after: JsonObject,
): Generator<[string, Json]> {
  for (const [key, old] of Object.entries(before))
    if (!Object.hasOwn(after, key) && old !== null) yield [key, null];
}

/** A merge patch replaces arrays as a whole, so they are compared as a whole. */
function isEqual(one: Json, other: Json): boolean {
  if (one === other) return true;
  return (
    Array.isArray(one) &&
    Array.isArray(other) &&
    JSON.stringify(one) === JSON.stringify(other)
  );
}

function emptyObject(): Record<string, Json> {
  return Object.create(null) as Record<string, Json>;
}
