import t from "tap";
import { Completeness } from "../src/objects/completeness.js";

/** Pools by id, and whether each is being loaded. */
function setUp(pools: Record<string, boolean> = {}) {
  const listeners = new Set<(pool: string) => void>();
  const completeness = new Completeness(
    {
      get pools() {
        return Object.keys(pools);
      },
      mirrorStatus: (id) => ({ isLoading: pools[id] }) as never,
      onMirrorStatus: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    { settled: async () => undefined },
  );
  const seen: boolean[] = [];
  completeness.onChange(() => seen.push(completeness.isComplete));
  const set = (pool: string, isLoading: boolean) => {
    pools[pool] = isLoading;
    for (const listener of listeners) listener(pool);
  };
  return { completeness, set, seen };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

t.test("results are complete when no pool is being loaded", async (t) => {
  const { completeness, set, seen } = setUp();
  t.equal(completeness.isComplete, true);
  set("a", true);
  set("b", true);
  t.equal(completeness.isComplete, false);
  set("a", false);
  await turn();
  t.equal(completeness.isComplete, false, "b is still being loaded");
  set("b", false);
  await turn();
  t.same(seen, [false, true]);
});

t.test("they are not while pools are being created", async (t) => {
  const { completeness, set, seen } = setUp();
  const release = completeness.hold();
  t.equal(completeness.isComplete, false);
  set("a", true);
  set("a", false);
  await turn();
  t.equal(completeness.isComplete, false, "there may be more pools");
  release();
  await turn();
  t.same(seen, [false, true]);
});
