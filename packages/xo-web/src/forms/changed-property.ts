import type { Json } from "@xo-server/kit";

/**
 * A property of a change request (RFC 7386).
 * @param value undefined: the property is to be absent
 * @param before the stored object; undefined: it is created
 * @returns the property; null to remove a stored one; nothing if it is absent anyway
 */
export function changedProperty<K extends string>(
  before: Partial<Readonly<Record<K, unknown>>> | undefined,
  key: K,
  value: Json | undefined,
): Readonly<Record<string, Json>> {
  if (value !== undefined) return { [key]: value };
  return before?.[key] === undefined ? {} : { [key]: null };
}

/** The number that was entered; undefined: the field is empty. */
export function enteredNumber(text: string): number | undefined {
  return text.trim() === "" ? undefined : Number(text);
}
