import type { Json } from "../src/status/merge-patch.js";

/** RFC 7386 as its section 2 writes it down: what a client does with a patch. */
export function applyPatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const result: Record<string, Json> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = applyPatch(result[key], value);
  }
  return result;
}

/** Without members that are null: to a merge patch they are not there. */
export function withoutNulls(value: Json): Json {
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== null)
      .map(([key, inner]) => [key, withoutNulls(inner)]),
  );
}

function isObject(
  value: Json | undefined,
): value is Readonly<Record<string, Json>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
