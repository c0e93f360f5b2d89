import type { XapiValue } from "./xapi-value.js";

/** Same value all the way down. The order of a map's members means nothing, that of a set does. */
export function isEqual(
  one: XapiValue | undefined,
  other: XapiValue | undefined,
): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== "object" || typeof other !== "object") return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every(
      (name) =>
        Object.hasOwn(other, name) &&
        isEqual(
          (one as Record<string, XapiValue>)[name],
          (other as Record<string, XapiValue>)[name],
        ),
    )
  );
}
