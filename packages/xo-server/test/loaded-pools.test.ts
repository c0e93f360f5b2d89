import t from "tap";
import { LoadedPools } from "../src/objects/loaded-pools.js";

type State = "loading" | "unreachable" | "loaded" | "removed";

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Pools that are there before the start has ended. */
async function start(states: Record<string, State>) {
  const pools: Record<string, State> = { ...states };
  const listeners = new Set<(pool: string) => void>();
  const loadedPools = new LoadedPools(
    {
      get pools() {
        return Object.keys(pools);
      },
      mirrorStatus: (id) =>
        ({
          state: pools[id] === "removed" ? "stopped" : "connecting",
          isLoading: pools[id] === "loading",
          hasLoaded: pools[id] === "loaded",
        }) as never,
      onMirrorStatus: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    { settled: async () => undefined },
  );
  const set = async (pool: string, state: State) => {
    pools[pool] = state;
    for (const listener of listeners) listener(pool);
    await turn();
  };
  const release = loadedPools.hold();
  return { loadedPools, pools, set, release };
}

t.test("any object may exist while pools are being created", async (t) => {
  const { loadedPools, release } = await start({});
  t.equal(loadedPools.mayHave("x"), true);
  release();
  t.equal(loadedPools.mayHave("x"), false);
});

t.test("an object of a pool that is being loaded may exist", async (t) => {
  const { loadedPools, set, release } = await start({
    a: "loading",
    b: "loading",
  });
  release();
  await set("a", "loaded");
  t.equal(loadedPools.mayHave("x"), true, "it may be in b");
  await set("b", "loaded");
  t.equal(loadedPools.mayHave("x"), false);
});

t.test(
  "one that was deleted from a loaded pool does not wait for others",
  async (t) => {
    const { loadedPools, set, release } = await start({
      a: "loading",
      b: "loading",
    });
    release();
    await set("a", "loaded");
    loadedPools.noteFound("x", "a");
    t.equal(loadedPools.mayHave("x"), false);
    t.equal(loadedPools.mayHave("y"), true);
  },
);

t.test("nor does one that can only be in a loaded pool", async (t) => {
  const { loadedPools, set, release } = await start({
    a: "loading",
    b: "loading",
  });
  release();
  await set("a", "loaded");
  t.equal(loadedPools.mayHave("x", "a"), false);
  t.equal(loadedPools.mayHave("x", "b"), true);
});

t.test(
  "a pool of the start that cannot be reached may have any object until it is loaded or removed",
  async (t) => {
    const { loadedPools, set, release } = await start({
      a: "loading",
      b: "loading",
    });
    release();
    await set("a", "loaded");
    await set("b", "unreachable");
    t.equal(loadedPools.mayHave("x"), true);
    await set("b", "removed");
    t.equal(loadedPools.mayHave("x"), false);
  },
);

t.test("also one that has reported nothing when the start ends", async (t) => {
  const { loadedPools, pools, release } = await start({});
  pools["b"] = "unreachable";
  release();
  t.equal(loadedPools.mayHave("x"), true);
});

t.test(
  "a pool that is added later counts only while it is loaded",
  async (t) => {
    const { loadedPools, set, release } = await start({});
    release();
    await set("b", "loading");
    t.equal(loadedPools.mayHave("x"), true);
    await set("b", "unreachable");
    t.equal(loadedPools.mayHave("x"), false);
  },
);

t.test(
  "what was found is dropped when all pools are loaded, and bounded before",
  async (t) => {
    const { loadedPools, set, release } = await start({
      a: "loading",
      b: "loading",
    });
    release();
    await set("a", "loaded");
    loadedPools.noteFound("first", "a");
    for (let i = 0; i < 10_000; i++) loadedPools.noteFound(`id ${i}`, "a");
    t.equal(loadedPools.mayHave("first"), true);
    t.equal(loadedPools.mayHave("id 9999"), false);
    await set("b", "loaded");
    await set("c", "loading");
    t.equal(loadedPools.mayHave("id 9999"), true);
  },
);
