import type { XapiRecord } from "../store/record-rows.js";
import type { ViewObject } from "./view.js";
import { toInteger } from "./values/integer.js";
import { isMap, setMember } from "./values/maps.js";
import { isSecretName, MASK } from "./values/secret-names.js";
import { maskText } from "./values/secret-texts.js";

/**
 * Fields that contain a whole record as text: their secrets cannot be
 * separated, so the text is masked completely.
 */
const recordCopies = new Set(["last_booted_record", "snapshot_metadata"]);

/** Nesting limit; fields of XAPI are not so deep. */
const MAX_DEPTH = 16;

/**
 * A XAPI record as JSON values, with secrets masked. A secret is recognised by
 * the name of its field or map key, or by the text around it.
 */
export function toMaskedRecord(record: XapiRecord): ViewObject {
  return maskedMap(record, 0);
}

function maskedMap(map: XapiRecord, depth: number): ViewObject {
  const masked: ViewObject = {};
  for (const [name, value] of Object.entries(map))
    setMember(masked, name, maskedMember(name, value, depth));
  return masked;
}

function maskedMember(name: string, value: unknown, depth: number): unknown {
  const isSecret = isSecretName(name) || recordCopies.has(name);
  // Booleans, numbers and empty strings reveal nothing.
  const hasContent = typeof value === "string" ? value !== "" : isFilled(value);
  return isSecret && hasContent ? MASK : maskedValue(value, depth + 1);
}

function isFilled(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return isMap(value) && Object.keys(value).length > 0;
}

function maskedValue(value: unknown, depth: number): unknown {
  if (typeof value === "string") return maskText(value);
  if (typeof value === "bigint") return toInteger(value);
  if (depth > MAX_DEPTH) return MASK;
  if (Array.isArray(value))
    return value.map((member) => maskedValue(member, depth + 1));
  return isMap(value) ? maskedMap(value, depth) : value;
}
