import type { Store } from "@xo-server/store";
import type { Test } from "tap";
import { createRandom, pickSeed } from "../random.js";
import { createBench, type StoreHarness } from "./harness.js";

const STEPS = 400;

/** Random changes by two stores on one database, compared with a map. */
export async function testRandomChanges(t: Test, harness: StoreHarness) {
  t.test("any sequence of changes has the expected result", async (t) => {
    const seed = pickSeed();
    t.comment(`SEED=${seed}`);
    const random = createRandom(seed);
    const pick = (count: number) => Math.floor(random() * count);
    const bench = await createBench(t, harness);
    const stores: Store[] = [await bench.open(), await bench.open()];
    const expected = new Map<string, unknown>();

    const set = async (store: Store, key: string) => {
      const value = { n: pick(1_000) };
      await store.settings.set(key, value);
      expected.set(key, value);
    };
    const remove = async (store: Store, key: string) => {
      await store.refresh();
      const deleted = store.settings.delete(key);
      if (expected.delete(key)) await deleted;
      else await t.rejects(deleted, { code: "NO_SUCH_OBJECT" });
    };
    const reopen = async (store: Store) => {
      await store.close();
      stores[stores.indexOf(store)] = await bench.open();
    };
    const burst = (store: Store) =>
      Promise.all(Array.from({ length: 5 }, (_, i) => set(store, `burst${i}`)));

    for (let step = 0; step < STEPS; step++) {
      const store = stores[pick(2)]!;
      const key = `key${pick(12)}`;
      const choice = random();
      if (choice < 0.55) await set(store, key);
      else if (choice < 0.85) await remove(store, key);
      else if (choice < 0.98) await burst(store);
      else await reopen(store);
    }
    for (const store of [...stores, await bench.open()]) {
      await store.refresh();
      const kept = Object.fromEntries(store.settings.list());
      t.same(kept, Object.fromEntries(expected));
    }
  });
}
