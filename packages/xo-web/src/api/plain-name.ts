import { isObject, type Json } from "@xo-server/kit";

/** Controls that change the direction of text: they can make a name read as another one. */
const directionControls = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** A name without direction controls, as it is shown. */
export function plainName(name: string): string {
  return name.replaceAll(directionControls, "");
}

/**
 * An object, or a merge patch of one, with a plain name. Tags are not changed,
 * because they identify themselves.
 */
export function withPlainName(object: Json): Json {
  if (!isObject(object)) return object;
  const { name_label } = object;
  if (typeof name_label !== "string") return object;
  const plain = plainName(name_label);
  return plain === name_label ? object : { ...object, name_label: plain };
}
