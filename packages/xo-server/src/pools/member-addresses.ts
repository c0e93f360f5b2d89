import type { Inventory, Queries } from "@xo-server/inventory";
import { toColumnTable } from "../health/column-table.js";

/** Addresses of the hosts of each pool, sorted, by the id of the pool. */
export async function memberAddresses({
  inventory,
  queries,
}: {
  readonly inventory: Pick<Inventory, "runInSlices">;
  readonly queries: Pick<Queries, "columns">;
}): Promise<ReadonlyMap<string, readonly string[]>> {
  const answer = await queries.columns({
    type: "host",
    paths: ["$poolId", "address"],
  });
  const { ids, column } = await toColumnTable(answer, (steps) =>
    inventory.runInSlices("servers", steps),
  );
  const [poolOf, addressOf] = [column("$poolId"), column("address")];
  const members = new Map<string, string[]>();
  for (const row of ids.keys()) {
    const [pool, address] = [poolOf(row), addressOf(row)];
    if (typeof pool !== "string" || typeof address !== "string") continue;
    const known = members.get(pool);
    if (known === undefined) members.set(pool, [address]);
    else known.push(address);
  }
  for (const addresses of members.values()) addresses.sort();
  return members;
}
