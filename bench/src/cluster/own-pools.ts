import { ownersOf, timeUntil } from "./lease-watch.js";
import type { LiveClient } from "./live-client.js";
import type { BenchGroup } from "./server-group.js";

/** Gives each pool a load balancer that only observes, so that it has an owner. */
export async function ownPools(
  { postgres, pools: { length } }: Pick<BenchGroup, "postgres" | "pools">,
  client: LiveClient,
): Promise<void> {
  const pools = (await client.call("query.page", {
    type: "pool",
    fields: ["id"],
    limit: length,
  })) as { readonly rows: readonly { readonly id: string }[] };
  for (const { id } of pools.rows)
    await client.call("balancer.setPolicy", { pool: id, mode: "dry-run" });
  await timeUntil("each pool has an owner", async () => {
    const owners = await ownersOf(postgres);
    return pools.rows.every(({ id }) => owners.has(`balancer/${id}`));
  });
}
