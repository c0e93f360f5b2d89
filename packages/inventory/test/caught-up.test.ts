import t from "tap";
import {
  catalogOf,
  createPool,
  objectOf,
  record,
  refOf,
  uuidOf,
} from "./catalog-pool.js";
import { until } from "./until.js";

/** Whether it has resolved by now. */
function watch(promise: Promise<void>): { isDone: boolean } {
  const seen = { isDone: false };
  void promise.then(() => (seen.isDone = true));
  return seen;
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

t.test("a caller can wait until its change is in the mirror", async (t) => {
  const pool = createPool("a");
  const { inventory, catalog, poll, flush, stop } = await catalogOf(pool);
  await inventory.catchUp("p");
  await catalog.settled();
  pool.put("VM", refOf("a"), record("a", { name_label: "b" }));
  const caughtUp = watch(inventory.catchUp("p"));
  await turn();
  t.notOk(caughtUp.isDone, "the pool has not reported the change");
  await poll();
  await until(() => caughtUp.isDone);
  t.equal(
    inventory.get("p", "VM", refOf("a"))!["name_label"],
    "b",
    "it is in the store",
  );
  const settled = watch(catalog.settled());
  await turn();
  t.notOk(settled.isDone, "its window is not over");
  await flush();
  await until(() => settled.isDone);
  t.match(objectOf(catalog, uuidOf("a")), { name_label: "b" });
  await stop();
});

t.test("also while views of earlier changes are being built", async (t) => {
  const pool = createPool("a", "b");
  const { inventory, catalog, clock, poll, stop } = await catalogOf(pool);
  for (let i = 0; i < 30; i++) {
    pool.put("VM", refOf("a"), record("a", { name_label: `a${i}` }));
    await poll();
    clock.advance(50);
    for (let turns = 0; turns < i % 4; turns++) await turn();
    pool.put("VM", refOf("b"), record("b", { name_label: `b${i}` }));
    const caughtUp = inventory.catchUp("p");
    await poll();
    await caughtUp;
    const settled = watch(catalog.settled());
    await until(() => {
      clock.advance(50);
      return settled.isDone;
    });
    t.match(objectOf(catalog, uuidOf("b")), { name_label: `b${i}` });
  }
  await stop();
});

t.test("callers do not wait for events after the end", async (t) => {
  const pool = createPool("a");
  const { inventory, catalog, handle } = await catalogOf(pool);
  await inventory.catchUp("unknown");
  pool.put("VM", refOf("a"), record("a", { name_label: "b" }));
  const caughtUp = inventory.catchUp("p");
  await turn();
  await handle.stop();
  await caughtUp;
  await inventory.catchUp("p");
  t.equal(inventory.get("p", "VM", refOf("a"))!["name_label"], "a");
  catalog.stop();
  await catalog.settled();
});
