import { createInventory } from "@xo-server/inventory";
import { createParserPool } from "@xo-server/parser-pool";
import { createDerivedPools } from "@xo-server/xapi-sim";
import t, { type Test } from "tap";
import { seededRandom } from "../src/measure/seeded-random.js";
import { ChangeGenerator, Hours } from "../src/measure/simulated-day.js";
import { DerivedSource } from "../src/measure/derived-source.js";
import { untilWatching } from "../src/measure/until-watching.js";

async function setUp(t: Test) {
  const random = seededRandom(7);
  const hours = new Hours(random);
  const decoder = createParserPool({ place: "main" });
  const inventory = createInventory();
  const parts = { decoder, hours, changes: new ChangeGenerator(random) };
  const pools = createDerivedPools({ pools: 2, vms: 5 });
  for (const [i, pool] of pools.entries())
    inventory.addPool(`p${i}`, new DerivedSource(pool, parts));
  await Promise.all(pools.map((_, i) => untilWatching(inventory, `p${i}`)));
  t.teardown(async () => {
    hours.end();
    await inventory.stop();
    await decoder.close();
  });
  return { hours, inventory, pools };
}

t.test("pools in this process are listed like those on the wire", async (t) => {
  const { inventory, pools } = await setUp(t);
  for (const [i, pool] of pools.entries())
    for (const name of ["VM", "VBD", "host", "role", "task"])
      t.equal(inventory.count(`p${i}`, name), pool.count(name), name);
  const [vm] = inventory.list("VM", { poolId: "p1" });
  t.match(vm?.record, { uuid: vm?.uuid });
});

t.test(
  "an hour passes when all of its changes are in the inventory",
  async (t) => {
    const { hours, inventory, pools } = await setUp(t);
    const changed = new Set<string>();
    inventory.subscribe((changes) => {
      for (const { className, kind, ref } of changes)
        changed.add(`${className} ${kind} ${kind === "update" ? ref : ""}`);
    });
    const before = inventory.revision;
    await hours.pass(2000);
    t.ok(inventory.revision - before > 500);
    t.ok(changed.has("task add "));
    t.ok(changed.has("task remove "));
    const updated = [...changed].filter((text) => text.startsWith("VM update"));
    t.ok(updated.length > 5, `${updated.length} VMs`);
    for (const [i, pool] of pools.entries()) {
      t.equal(inventory.count(`p${i}`, "VM"), pool.count("VM"));
      t.ok(inventory.count(`p${i}`, "task") <= pool.count("task") + 20);
    }
    const [vm] = [...inventory.list("VM")].filter(({ ref }) =>
      changed.has(`VM update ${ref}`),
    );
    t.match(vm?.record, { other_config: { "sim:changed": /^\d+$/ } });
  },
);
