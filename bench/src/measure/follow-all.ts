import type { Catalog, ViewTable } from "@xo-server/inventory";

/**
 * Follows all classes that have views; resolves when their tables are
 * complete.
 */
export function followAll(catalog: Catalog): Promise<ViewTable[]> {
  const classes = new Set(catalog.types.map((type) => catalog.classOf(type)!));
  return Promise.all([...classes].map((one) => catalog.follow(one)));
}
