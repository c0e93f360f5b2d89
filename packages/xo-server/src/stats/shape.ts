/**
 * The columns of an object, in order. Objects with the same columns share one
 * shape.
 */
export interface Shape {
  readonly type: "host" | "vm" | "sr";
  readonly names: readonly string[];
}

/** Limit of the lookup table; shapes in use stay alive with their objects. */
const MAX_SHAPES = 10_000;

const shapes = new Map<string, Shape>();

/** @param names separated by tabs, as in legends */
export function shapeOf(type: string, names: string): Shape | undefined {
  if (!isType(type)) return undefined;
  const key = `${type}\t${names}`;
  let shape = shapes.get(key);
  if (shape === undefined) {
    if (shapes.size >= MAX_SHAPES) shapes.clear();
    shapes.set(key, (shape = { type, names: names.split("\t") }));
  }
  return shape;
}

function isType(type: string): type is Shape["type"] {
  return type === "host" || type === "vm" || type === "sr";
}
