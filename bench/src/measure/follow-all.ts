import type { Catalog, ViewTable } from "@xo-server/inventory";

/** Keeps the views of all classes that have one; resolves when they are made. */
export function followAll(catalog: Catalog): Promise<ViewTable[]> {
  const classes = new Set(catalog.types.map((type) => catalog.classOf(type)!));
  return Promise.all([...classes].map((one) => catalog.follow(one)));
}
