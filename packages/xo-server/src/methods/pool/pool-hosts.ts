import type { Queries } from "@xo-server/inventory";
import type { readableTo } from "../../objects/readable.js";

/**
 * Ids of the hosts of a pool.
 * @param where undefined: all; else those that the caller may read
 */
export async function hostsOfPool(
  queries: Pick<Queries, "page">,
  pool: string,
  where?: ReturnType<ReturnType<typeof readableTo>>,
): Promise<readonly string[]> {
  const { ids } = await queries.page({
    type: "host",
    filter: `$pool:"${pool}"`,
    ...(where === undefined ? {} : { where }),
  });
  return ids;
}
