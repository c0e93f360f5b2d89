import t from "tap";
import type { Inventory } from "@xo-server/inventory";
import { FakePool } from "./fake-pool.js";
import { mirror } from "./mirror-pool.js";

/** Now and then a reference that is longer than the ring has room for. */
const refOf = (i: number) =>
  `OpaqueRef:${i}${i % 97 === 0 ? `-${"long".repeat(30)}` : ""}`;

function refsSince(inventory: Inventory, revision: number): string[] {
  const changes = inventory.since(revision);
  if (changes === "resync") return ["resync"];
  return [...changes].map(({ ref }) => ref);
}

t.test("changes are kept while the ring grows", async (t) => {
  const pool = new FakePool(["VM"]);
  pool.batchSize = 50;
  const refs = Array.from({ length: 4500 }, (_, i) => refOf(i));
  for (const ref of refs) pool.put("VM", ref, { uuid: ref });
  const { inventory, handle, poll } = await mirror(pool, { ringSize: 5000 });
  t.same(refsSince(inventory, 0), refs);
  t.same(refsSince(inventory, 4096), refs.slice(4096));
  t.equal(inventory.stats.feedLimitBytes, 5000 * 74);

  const changed = refs.slice(1000, 2000);
  for (const ref of changed) pool.put("VM", ref, { uuid: ref, version: 2 });
  await poll();
  t.equal(inventory.revision, 5500);
  t.same(refsSince(inventory, 499), ["resync"], "too long ago");
  t.same(refsSince(inventory, 500), [...refs.slice(500), ...changed]);
  t.equal(inventory.stats.feedBytes, inventory.stats.feedLimitBytes);
  await handle.stop();
});
