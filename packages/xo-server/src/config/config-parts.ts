import { Type, type TObject, type TProperties } from "typebox";

/** Schema of a section of the config; if it is absent, all its defaults apply. */
export function section<T extends TProperties>(
  description: string,
  properties: T,
): TObject<T> {
  return Type.Object(properties, {
    description,
    default: {},
    additionalProperties: false,
  });
}

/** Schema of a duration, in ms. @param preset default */
export function milliseconds(preset: number, description: string) {
  return Type.Integer({
    default: preset,
    minimum: 1,
    // Limit of timers in Node.js.
    maximum: 2 ** 31 - 1,
    description,
  });
}

/** Schema of a size, in bytes. @param preset default */
export function bytes(preset: number, description: string, minimum = 1) {
  return Type.Integer({
    default: preset,
    minimum,
    maximum: Number.MAX_SAFE_INTEGER,
    description,
  });
}

/** Schema of a number of things. @param preset default */
export function count(preset: number, description: string, minimum = 1) {
  return Type.Integer({
    default: preset,
    minimum,
    maximum: 1_000_000,
    description,
  });
}
