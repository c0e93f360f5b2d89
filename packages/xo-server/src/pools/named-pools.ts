import type { Catalog, Queries, ViewObject } from "@xo-server/inventory";

/** What is known about the pool of a connection. */
interface NamedPool {
  readonly poolId: string;
  readonly poolNameLabel: string;
  readonly poolNameDescription: string;
  /** Id of its coordinator. */
  readonly master?: string;
  /** Software version of the coordinator. */
  readonly version?: string;
}

const PAGE = 100;

/** Pools by the id of their connection. */
export async function namedPools({
  catalog,
  queries,
}: {
  readonly catalog: Pick<Catalog, "follow" | "get">;
  readonly queries: Pick<Queries, "page">;
}): Promise<ReadonlyMap<string, NamedPool>> {
  await catalog.follow("host");
  const pools = new Map<string, NamedPool>();
  let after: string | undefined;
  do {
    const page = await queries.page({
      type: "pool",
      sort: [],
      limit: PAGE,
      ...(after === undefined ? {} : { after }),
    });
    for (const id of page.ids) {
      const entry = catalog.get(id);
      if (entry === undefined) continue;
      const pool = JSON.parse(entry.json.toString()) as ViewObject;
      pools.set(entry.pool, { poolId: id, ...describe(pool, catalog) });
    }
    after = page.next;
  } while (after !== undefined);
  return pools;
}

function describe(
  pool: ViewObject,
  catalog: Pick<Catalog, "get">,
): Omit<NamedPool, "poolId"> {
  const { name_label, name_description, master } = pool;
  const json =
    typeof master === "string" ? catalog.get(master)?.json : undefined;
  const { version } =
    json === undefined ? {} : (JSON.parse(json.toString()) as ViewObject);
  return {
    poolNameLabel: typeof name_label === "string" ? name_label : "",
    poolNameDescription:
      typeof name_description === "string" ? name_description : "",
    ...(typeof master === "string" ? { master } : {}),
    ...(typeof version === "string" ? { version } : {}),
  };
}
