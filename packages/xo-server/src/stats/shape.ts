/** What of an object is measured, in the order of its columns. Objects of which the same is measured share one. */
export interface Shape {
  readonly type: "host" | "vm" | "sr";
  readonly names: readonly string[];
}

/** Those in use live on with their objects: this many are found again. */
const MOST_SHAPES = 10_000;

const shapes = new Map<string, Shape>();

/** @param names with a tab between each two, as legends have them */
export function shapeOf(type: string, names: string): Shape | undefined {
  if (!isType(type)) return undefined;
  const key = `${type}\t${names}`;
  let shape = shapes.get(key);
  if (shape === undefined) {
    if (shapes.size >= MOST_SHAPES) shapes.clear();
    shapes.set(key, (shape = { type, names: names.split("\t") }));
  }
  return shape;
}

function isType(type: string): type is Shape["type"] {
  return type === "host" || type === "vm" || type === "sr";
}
