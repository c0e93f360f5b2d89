import type { WallClock } from "@xo-server/kit";
import t from "tap";
import { ListingLimiter } from "../src/mirror/listing-limiter.js";
import { createTestInventory } from "./mirror-pool.js";
import { FakePool } from "./fake-pool.js";
import { until } from "./until.js";

/** Pools that list one VM each, and how many of them do so at the moment. */
function createPools(count: number) {
  return Array.from({ length: count }, (_, i) => {
    const pool = new FakePool(["VM"]);
    pool.put("VM", `OpaqueRef:${i}`, { uuid: `vm-${i}` });
    return pool;
  });
}

/** Holds listings until they are released. */
function holdListings(pools: readonly FakePool[]) {
  const held = new Map<FakePool, () => void>();
  for (const pool of pools) {
    const list = pool.listRecords.bind(pool);
    pool.listRecords = async (className, options) => {
      await new Promise<void>((resolve) => held.set(pool, resolve));
      return list(className, options);
    };
  }
  return {
    held,
    release: (pool: FakePool) => {
      held.get(pool)!();
      held.delete(pool);
    },
  };
}

function createLimiter(
  clock: WallClock,
  untilServed: () => Promise<void> = async () => undefined,
): ListingLimiter {
  const options = { maxConcurrent: 1, readersWaitMs: 60, clock, untilServed };
  return new ListingLimiter(options);
}

async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((next) => setImmediate(next));
}

t.test(
  "at most the limit of pools are listed at a time, the others in their order",
  async (t) => {
    const pools = createPools(5);
    const { held, release } = holdListings(pools);
    const { inventory } = createTestInventory({ parallelPools: 2 });
    t.teardown(() => inventory.stop());
    for (const [i, pool] of pools.entries()) inventory.addPool(`p${i}`, pool);
    await settle();
    t.strictSame([...held.keys()], pools.slice(0, 2));
    t.equal(inventory.mirrorStatus("p2")?.state, "connecting");
    release(pools[1]!);
    await until(() => held.has(pools[2]!));
    await settle();
    t.strictSame([...held.keys()], [pools[0], pools[2]]);
    t.equal(inventory.mirrorStatus("p1")?.state, "watching");
    for (const pool of [pools[0]!, pools[2]!, pools[3]!, pools[4]!]) {
      await until(() => held.has(pool));
      release(pool);
    }
    await until(() => inventory.objects === 5);
  },
);

t.test("a hanging pool does not block the others for long", async (t) => {
  const pools = createPools(2);
  const { held, release } = holdListings(pools);
  const { inventory, clock } = createTestInventory({ parallelPools: 1 });
  t.teardown(() => inventory.stop());
  for (const [i, pool] of pools.entries()) inventory.addPool(`p${i}`, pool);
  await until(() => held.has(pools[0]!));
  clock.advance(2_999);
  await settle();
  t.notOk(held.has(pools[1]!));
  clock.advance(1);
  await until(() => held.has(pools[1]!));
  release(pools[1]!);
  await until(() => inventory.mirrorStatus("p1")?.state === "watching");
  release(pools[0]!);
  await until(() => inventory.mirrorStatus("p0")?.state === "watching");
});

t.test("a pool that fails yields its turn to the next", async (t) => {
  const pools = createPools(2);
  pools[0]!.listingErrors.set("VM", { error: new Error("no") });
  const { inventory } = createTestInventory({ parallelPools: 1 });
  t.teardown(() => inventory.stop());
  for (const [i, pool] of pools.entries()) inventory.addPool(`p${i}`, pool);
  await until(() => inventory.mirrorStatus("p1")?.state === "watching");
  t.equal(inventory.mirrorStatus("p0")?.state, "backing-off");
});

t.test("a stopped pool no longer waits", async (t) => {
  const pools = createPools(3);
  const { held, release } = holdListings(pools);
  const { inventory } = createTestInventory({ parallelPools: 1 });
  t.teardown(() => inventory.stop());
  const handles = pools.map((pool, i) => inventory.addPool(`p${i}`, pool));
  await until(() => held.has(pools[0]!));
  await handles[1]!.stop();
  t.equal(handles[1]!.status().state, "stopped");
  release(pools[0]!);
  await until(() => held.has(pools[2]!));
  t.notOk(held.has(pools[1]!));
  release(pools[2]!);
  await until(() => handles[2]!.status().state === "watching");
});

t.test("listings begin when what is on disk has been read", async (t) => {
  const { clock } = createTestInventory();
  const limiter = createLimiter(clock);
  const { signal } = new AbortController();
  const steps: string[] = [];
  const list = (name: string) =>
    limiter.run(signal, async () => {
      steps.push(name);
    });
  let goOn = (): void => undefined;
  const restored = limiter.runFirst(
    () => new Promise<void>((resolve) => (goOn = resolve)),
  );
  const failed = limiter.runFirst(async () => {
    throw new Error("damaged");
  });
  await t.rejects(failed, { message: "damaged" });
  const listed = [list("a"), list("b")];
  await settle();
  t.same(steps, []);
  goOn();
  await Promise.all([restored, ...listed]);
  t.same(steps, ["a", "b"]);
});

t.test("listings wait for what is on disk ten seconds at most", async (t) => {
  const { clock } = createTestInventory();
  const limiter = createLimiter(clock);
  const { signal } = new AbortController();
  void limiter.runFirst(() => new Promise(() => undefined));
  let isListed = false;
  const listed = limiter.run(signal, async () => {
    isListed = true;
  });
  clock.advance(9_999);
  await settle();
  t.notOk(isListed, "it waits");
  clock.advance(1);
  await listed;
});

t.test(
  "listings wait while one pool after the other is restored",
  async (t) => {
    const { clock } = createTestInventory();
    const limiter = createLimiter(clock);
    const { signal } = new AbortController();
    const restored: (() => void)[] = [];
    for (let i = 0; i < 3; i++)
      void limiter.runFirst(
        () =>
          new Promise<undefined>((resolve) =>
            restored.push(() => resolve(undefined)),
          ),
      );
    let isListed = false;
    const listed = limiter.run(signal, async () => {
      isListed = true;
    });
    for (const end of restored.slice(1)) {
      clock.advance(9_000);
      end();
      await settle();
    }
    t.notOk(isListed, "18 s, but none of them without progress");
    clock.advance(10_000);
    await listed;
  },
);

t.test("listings begin when readers have what was on disk", async (t) => {
  const { clock } = createTestInventory();
  let serve = (): void => undefined;
  const limiter = createLimiter(
    clock,
    () => new Promise<void>((resolve) => (serve = resolve)),
  );
  const { signal } = new AbortController();
  t.equal(await limiter.runFirst(async () => "restored"), "restored");
  let isListed = false;
  const listed = limiter.run(signal, async () => {
    isListed = true;
  });
  // The catalog publishes what was restored within its window.
  clock.advance(60);
  await settle();
  t.notOk(isListed, "readers are being served");
  serve();
  await listed;
});

t.test(
  "what waits for the end of the deferral continues one after the other, as readers are served",
  async (t) => {
    const { clock } = createTestInventory();
    let serve = (): void => undefined;
    const limiter = createLimiter(
      clock,
      () => new Promise((resolve) => (serve = resolve)),
    );
    let restored = (): void => undefined;
    const restoring = limiter.runFirst(
      () =>
        new Promise<undefined>(
          (resolve) => (restored = () => resolve(undefined)),
        ),
    );
    const continued: string[] = [];
    for (const name of ["a", "b", "c", "d"])
      void limiter.untilAdmitting().then(() => continued.push(name));
    await settle();
    t.same(continued, []);
    restored();
    await restoring;
    await settle();
    t.same(continued, ["a"]);
    serve();
    await settle();
    t.same(continued, ["a", "b"], "readers have been served");
    clock.advance(2_999);
    await settle();
    t.same(continued, ["a", "b"], "readers are served first for 3 s");
    clock.advance(1);
    await settle();
    t.same(continued, ["a", "b", "c"]);
    clock.advance(50);
    await settle();
    t.same(continued, ["a", "b", "c", "d"], "then for 50 ms");
  },
);

t.test("listings begin at once when nothing was on disk", async () => {
  const { clock } = createTestInventory();
  const limiter = createLimiter(clock, () => new Promise(() => undefined));
  const { signal } = new AbortController();
  await limiter.runFirst(async () => undefined);
  await limiter.run(signal, async () => undefined);
});
