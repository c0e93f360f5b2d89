import type { Catalog } from "@xo-server/inventory";

/** Ids of the pools of known objects. */
export function poolsOf(
  catalog: Pick<Catalog, "get">,
  objects: readonly string[],
): string[] {
  const pools = objects.flatMap((id) => {
    const json = catalog.get(id)?.json;
    if (json === undefined) return [];
    const { $pool } = JSON.parse(json.toString()) as { $pool?: unknown };
    return typeof $pool === "string" ? [$pool] : [];
  });
  return [...new Set(pools)];
}
