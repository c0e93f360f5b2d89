/**
 * What a JSON Merge Patch (RFC 7386) makes of a value. The value is left as it
 * is; the result may share parts with it and with the patch.
 */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch))
    if (value === null) delete result[key];
    else
      // Not an assignment: `__proto__` is a key like any other.
      Object.defineProperty(result, key, {
        value: applyMergePatch(
          Object.hasOwn(result, key) ? result[key] : undefined,
          value,
        ),
        configurable: true,
        enumerable: true,
        writable: true,
      });
  return result;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
