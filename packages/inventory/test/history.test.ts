import { isDeepStrictEqual } from "node:util";
import t from "tap";
import type { Inventory } from "@xo-server/inventory";
import { classes, createRandom, History } from "./pool-history.js";
import { contentOf, contentOfPool, mirror } from "./mirror-pool.js";
import { until } from "./until.js";
import { seeds } from "./seeds.js";

/** A copy kept by the feed alone. */
function follow(inventory: Inventory) {
  const copy = new Map<string, Map<string, unknown>>();
  let problem = "";
  inventory.subscribe((changes) => {
    for (const { kind, className, ref, poolId } of changes) {
      const table = copy.get(className) ?? new Map<string, unknown>();
      copy.set(className, table);
      if (table.has(ref) === (kind === "add")) problem = `${kind} ${ref}`;
      const record = inventory.get(poolId, className, ref);
      if (kind === "remove") table.delete(ref);
      // Removed later in the same batch: its removal follows.
      else table.set(ref, record);
    }
  });
  return {
    problem: () => problem,
    content: () =>
      Object.fromEntries(
        [...copy]
          .filter(([, table]) => table.size > 0)
          .map(([className, table]) => [className, Object.fromEntries(table)]),
      ),
  };
}

async function live(seed: number) {
  const random = createRandom(seed);
  const history = new History(random);
  const { pool } = history;
  history.steps(60);
  pool.whileListing = () => {
    history.steps(2);
  };
  let copy: ReturnType<typeof follow>;
  const { inventory, handle, poll, clock } = await mirror(pool, {}, (one) => {
    copy = follow(one);
  });
  for (let round = 0; round < 12; round++) {
    pool.forgetsDeletions = random(3) === 0;
    history.steps(30);
    if (random(4) === 0) {
      const listings = pool.listed.length;
      pool.lose("events-lost");
      await until(() => {
        const { state } = handle.status();
        if (state === "backing-off") clock.advance(60_000);
        return (
          state === "watching" &&
          pool.listed.length >= listings + classes.length
        );
      });
    } else await poll();
    clock.advance(6_000);
  }
  // Quiet: the next polls must find whatever is amiss.
  pool.whileListing = () => undefined;
  pool.forgetsDeletions = false;
  for (let i = 0; i < 3; i++) {
    await poll();
    clock.advance(1_300_000);
  }
  await handle.stop();
  return { pool, inventory, copy: copy! };
}

t.test("whatever happens, the inventory ends up as the pool is", async (t) => {
  for (const seed of seeds(40)) {
    const { pool, inventory, copy } = await live(seed);
    const truth = contentOfPool(pool);
    const content = contentOf(inventory, "p");
    if (!isDeepStrictEqual(content, truth)) t.same(content, truth, `${seed}`);
    if (!isDeepStrictEqual(copy.content(), truth))
      t.same(copy.content(), truth, `the feed's copy, seed ${seed}`);
    if (copy.problem() !== "") t.fail(`seed ${seed}: ${copy.problem()}`);
    for (const [className, objects] of pool.objects)
      for (const ref of objects.keys())
        if (inventory.getByUuid(`uuid:${ref}`)?.className !== className)
          t.fail(`seed ${seed}: ${ref} is not found by its uuid`);
  }
  t.pass("40 histories");
});
