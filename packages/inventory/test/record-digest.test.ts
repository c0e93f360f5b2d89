import t from "tap";
import type { Inventory } from "@xo-server/inventory";
import { FakePool } from "./fake-pool.js";
import { mirror } from "./mirror-pool.js";
import { until } from "./until.js";
import { seeds } from "./seeds.js";

const classes = ["VM", "VBD", "SR"];
const NOTHING = "0".repeat(16);

type Random = (limit: number) => number;

/** Numbers below `limit`, the same for the same seed. */
function createRandom(seed: number): Random {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const left = [...items];
  return items.map(() => left.splice(random(left.length), 1)[0]!);
}

/** A mirror of a pool that has the same content, and listed it just now in another order. */
async function relisted(pool: FakePool, random: Random): Promise<Inventory> {
  const copy = new FakePool(classes);
  copy.batchSize = 1 + random(20);
  for (const [className, objects] of pool.objects)
    for (const [ref, record] of shuffled([...objects], random))
      copy.put(className, ref, record);
  const { inventory, handle } = await mirror(copy);
  await handle.stop();
  return inventory;
}

function change(pool: FakePool, random: Random): void {
  const className = classes[random(classes.length)]!;
  const ref = `OpaqueRef:${className}-${random(60)}`;
  if (random(3) === 0) pool.delete(className, ref);
  else pool.put(className, ref, { uuid: ref, version: random(4) });
}

const digests = (inventory: Inventory) =>
  [undefined, ...classes].map((name) => inventory.digest("p", name));

t.test("the digest follows every change, in whatever order", async (t) => {
  for (const seed of seeds(15)) {
    const random = createRandom(seed);
    const pool = new FakePool(classes);
    for (let i = 0; i < 80; i++) change(pool, random);
    let isRestless = true;
    pool.whileListing = () => {
      if (isRestless) change(pool, random);
    };
    const { inventory, handle, poll } = await mirror(pool);
    for (let round = 0; round < 8; round++) {
      isRestless = true;
      for (let i = random(40); i > 0; i--) change(pool, random);
      if (random(4) === 0) {
        const listings = pool.listed.length;
        pool.lose("new-session");
        await until(() => pool.listed.length >= listings + classes.length);
        await until(() => handle.status().state === "watching");
      }
      // Quiet: what is held is what there is.
      isRestless = false;
      await poll();
      const found = digests(inventory);
      const expected = digests(await relisted(pool, random));
      if (found.join() !== expected.join())
        t.same(found, expected, `seed ${seed}, round ${round}`);
    }
    for (const className of classes)
      for (let i = 0; i < 60; i++)
        pool.delete(className, `OpaqueRef:${className}-${i}`);
    await poll();
    t.same(new Set(digests(inventory)), new Set([NOTHING]), `seed ${seed}`);
    await handle.stop();
  }
});

t.test("whatever differs shows in the digest", async (t) => {
  const pool = new FakePool(classes);
  const put = (ref: string, version: number) => {
    pool.put("VM", `OpaqueRef:${ref}`, { uuid: "same", version });
  };
  put("a", 1);
  put("b", 2);
  const { inventory, handle, poll } = await mirror(pool);
  const seen = new Set([inventory.digest("p")]);
  const step = async (what: string, ...changes: (() => void)[]) => {
    for (const one of changes) one();
    await poll();
    const digest = inventory.digest("p");
    t.notOk(seen.has(digest), what);
    t.match(digest, /^[0-9a-f]{16}$/);
    t.equal(inventory.digest("p", "VM"), digest);
    seen.add(digest);
  };
  await step(
    "two objects swap their contents",
    () => put("a", 2),
    () => put("b", 1),
  );
  await step("one has another content", () => put("a", 3));
  await step("one comes", () => put("c", 1));
  await step("one goes", () => pool.delete("VM", "OpaqueRef:b"));
  t.equal(inventory.digest("p", "SR"), NOTHING);
  t.equal(inventory.digest("no such pool"), NOTHING);
  await handle.stop();
});
