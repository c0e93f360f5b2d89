import { toInteger } from "./integer.js";
import { isSecretName, MASK } from "./secret-names.js";
import { maskText, mayHoldSecret } from "./secret-texts.js";

export type TextMap = Readonly<Record<string, string>>;

/**
 * The string members of a map; {} for anything but a map. The map itself if it
 * has no others: must not be changed.
 */
export function toTextMap(value: unknown): TextMap {
  if (!isMap(value)) return {};
  for (const key in value)
    if (typeof value[key] !== "string") return copyOf(value, asText);
  return value as TextMap;
}

/**
 * Like toTextMap, with secrets masked: recognised by their key or by the text
 * around them.
 */
export function toMaskedMap(value: unknown): TextMap {
  if (!isMap(value)) return {};
  for (const key in value)
    if (!isClean(key, value[key])) return copyOf(value, asMasked);
  return value as TextMap;
}

/** The integer members of a map. */
export function toIntegerMap(value: unknown): Readonly<Record<string, number>> {
  return isMap(value) ? copyOf(value, (_key, member) => toInteger(member)) : {};
}

/** Sets an own member; also for the key `__proto__`. */
export function setMember<T>(
  map: Record<string, T>,
  key: string,
  value: T,
): void {
  if (key === "__proto__")
    Object.defineProperty(map, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  else map[key] = value;
}

/** An object: a XAPI map or a nested value; neither null nor an array. */
export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * A copy with the converted members; those for which `convert` returns
 * undefined are left out.
 */
function copyOf<T>(
  map: Record<string, unknown>,
  convert: (key: string, value: unknown) => T | undefined,
): Record<string, T> {
  const copy: Record<string, T> = {};
  for (const [key, value] of Object.entries(map)) {
    const converted = convert(key, value);
    if (converted !== undefined) setMember(copy, key, converted);
  }
  return copy;
}

function asText(_key: string, value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function isClean(key: string, value: unknown): boolean {
  if (typeof value !== "string") return false;
  return value === "" || !(mayHoldSecret(value) || isSecretName(key));
}

function asMasked(key: string, value: unknown): string | undefined {
  if (typeof value !== "string" || value === "") return asText(key, value);
  return isSecretName(key) ? MASK : maskText(value);
}
