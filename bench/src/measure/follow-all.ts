import type { Catalog, ViewTable } from "@xo-server/inventory";

/**
 * Builds the views of all classes that have one; resolves when they are
 * complete.
 */
export function followAll(catalog: Catalog): Promise<ViewTable[]> {
  const classes = new Set(catalog.types.map((type) => catalog.classOf(type)!));
  return Promise.all([...classes].map((one) => catalog.follow(one)));
}
