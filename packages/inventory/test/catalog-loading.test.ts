import t from "tap";
import { createCatalog, type Inventory } from "@xo-server/inventory";
import { createPool, flushed, refOf, uuidOf } from "./catalog-pool.js";
import type { FakePool } from "./fake-pool.js";
import { createTestInventory, mirror } from "./mirror-pool.js";
import { createTestViews } from "./test-views.js";
import { until } from "./until.js";

/** A catalog that follows all classes before there is a pool. */
async function followedCatalog(options: { addedRows?: number } = {}) {
  const { inventory, clock } = createTestInventory();
  const { views, builds } = createTestViews();
  const catalog = createCatalog(inventory, { views, clock, ...options });
  for (const { className } of views) await catalog.follow(className);
  catalog.feed.subscribe(() => undefined);
  return { inventory, clock, catalog, builds };
}

/** The pool does not answer the listing of a class until the returned function is called. */
function holdListing(pool: FakePool, held: string): () => void {
  let goOn = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const listRecords = pool.listRecords.bind(pool);
  pool.listRecords = async (className, options) => {
    if (className === held) await released;
    return listRecords(className, options);
  };
  return () => {
    goOn();
  };
}

/** Adds pools with one VM each, whose listings end at the same time. */
async function addTogether(inventory: Inventory, ...vms: string[]) {
  const pools = vms.map((vm) => createPool(vm));
  const releases = pools.map((pool) => holdListing(pool, "VBD"));
  const handles = pools.map((pool, i) => inventory.addPool(`${i}`, pool));
  await until(() =>
    handles.every((_, i) => inventory.count(`${i}`, "VM") === 1),
  );
  for (const release of releases) release();
  await until(() => handles.every((one) => one.status().state === "watching"));
  return handles;
}

t.test(
  "views of a pool are built once, when its first listing is complete",
  async (t) => {
    const pool = createPool("a", "b", "c", "d");
    const { inventory, clock, catalog, builds } = await followedCatalog();
    const seen: number[] = [];
    pool.whileListing = () => {
      clock.advance(50);
      seen.push(builds.size);
    };
    const handle = inventory.addPool("p", pool);
    await until(() => handle.status().isLoading);
    await until(() => handle.status().state === "watching");
    t.equal(handle.status().isLoading, false);
    t.ok(seen.length > 0 && seen.every((count) => count === 0));
    await Promise.all([catalog.loaded(), flushed(inventory, clock)]);
    t.equal(catalog.tables.get("VM")?.count, 4);
    t.same([...new Set(builds.values())], [1]);
    catalog.stop();
    await handle.stop();
  },
);

t.test("an object of a pool that is being listed can be read", async (t) => {
  const pool = createPool("a", "b", "c", "d");
  const { inventory, catalog } = await followedCatalog();
  const goOn = holdListing(pool, "VBD");
  const handle = inventory.addPool("p", pool);
  await until(() => catalog.get(uuidOf("a")) !== undefined);
  t.equal(handle.status().isLoading, true);
  const { json } = catalog.get(uuidOf("a"))!;
  t.match(JSON.parse(json.toString()), { name_label: "a" });
  goOn();
  await until(() => handle.status().state === "watching");
  catalog.stop();
  await handle.stop();
});

t.test("a slow listing shows its objects after ten seconds", async (t) => {
  const pool = createPool("a", "b", "c", "d", "e", "f", "g");
  const { inventory, clock, catalog, builds } = await followedCatalog();
  const goOn = holdListing(pool, "VBD");
  const handle = inventory.addPool("p", pool);
  await until(() => inventory.count("p", "VM") === 7);
  await flushed(inventory, clock, 9_999);
  t.equal(builds.size, 0);
  await flushed(inventory, clock, 1);
  await flushed(inventory, clock);
  t.equal(catalog.tables.get("VM")?.count, 7);
  // From now on changes count as of any other pool.
  pool.put("VBD", refOf("disk"), { uuid: uuidOf("disk"), VM: refOf("a") });
  goOn();
  await until(() => handle.status().state === "watching");
  await flushed(inventory, clock);
  t.equal(catalog.tables.get("VBD")?.count, 1);
  catalog.stop();
  await handle.stop();
});

t.test("a pool that waits for others to be listed is not late", async (t) => {
  const { inventory, clock } = createTestInventory({ parallelPools: 1 });
  const { views } = createTestViews();
  const catalog = createCatalog(inventory, { views, clock });
  const table = await catalog.follow("VM");
  await catalog.follow("VBD");
  let goOn = (): void => undefined;
  const held = new Promise<void>((resolve) => (goOn = resolve));
  // A listing that hangs counts for three seconds.
  const hanging = Array.from({ length: 5 }, () => createPool("x"));
  for (const pool of hanging)
    pool.listRecords = () => held.then(() => ({ records: 0, bytes: 0 }));
  const last = createPool("a", "b", "c", "d");
  const listRecords = last.listRecords.bind(last);
  last.listRecords = async (className, options) => {
    if (className === "VBD") await held;
    return listRecords(className, options);
  };
  const others = hanging.map((pool, i) => inventory.addPool(`${i}`, pool));
  const handle = inventory.addPool("last", last);
  await until(() => handle.status().isLoading);
  for (let i = 0; inventory.count("last", "VM") < 4; i++) {
    await flushed(inventory, clock, 1_000);
    if (i > 60) throw new Error("it was not listed");
  }
  for (let i = 0; i < 3; i++) await flushed(inventory, clock);
  t.equal(table.count, 0, "its views wait for the other classes");
  goOn();
  await until(() => handle.status().state === "watching");
  await flushed(inventory, clock);
  t.equal(table.count, 4);
  catalog.stop();
  await Promise.all([...others, handle].map((one) => one.stop()));
});

t.test(
  "pools that are loaded while others are being loaded are added together",
  async (t) => {
    const { inventory, clock, catalog } = await followedCatalog();
    const table = catalog.tables.get("VM")!;
    const slow = createPool("a");
    const goOn = holdListing(slow, "VBD");
    const handles = [inventory.addPool("slow", slow)];
    const add = async (id: string, ...names: string[]) => {
      const handle = inventory.addPool(id, createPool(...names));
      handles.push(handle);
      await until(() => handle.status().state === "watching");
    };
    await add("first", "b");
    await flushed(inventory, clock);
    t.equal(table.count, 1, "the first one at once");
    await add("second", "c", "d");
    await add("third", "e");
    await flushed(inventory, clock, 100);
    await catalog.loaded();
    t.equal(table.count, 1, "without waiting for those that follow");
    const settled = catalog.settled();
    await flushed(inventory, clock, 50);
    await flushed(inventory, clock);
    await settled;
    t.equal(table.count, 4, "after 150 ms");
    await add("fourth", "f");
    goOn();
    await until(() => handles[0]!.status().state === "watching");
    await Promise.all([catalog.loaded(), flushed(inventory, clock)]);
    t.equal(table.count, 6, "at once when no other pool is being loaded");
    catalog.stop();
    await Promise.all(handles.map((one) => one.stop()));
  },
);

t.test(
  "many pools that are loaded at once are added in several steps",
  async (t) => {
    const { inventory, clock, catalog } = await followedCatalog({
      addedRows: 1,
    });
    const table = catalog.tables.get("VM")!;
    const slow = createPool("d");
    const goOn = holdListing(slow, "VBD");
    const loading = inventory.addPool("slow", slow);
    const handles = await addTogether(inventory, "a", "b", "c");
    const counts: number[] = [];
    let isSettled = false;
    void catalog.settled().then(() => (isSettled = true));
    for (let i = 0; i < 3; i++) {
      t.equal(isSettled, false);
      await flushed(inventory, clock);
      await catalog.loaded();
      counts.push(table.count);
    }
    t.same(counts, [1, 2, 3], "without a pause between the steps");
    t.equal(isSettled, true, "when the last of them was added");
    goOn();
    await until(() => loading.status().state === "watching");
    await Promise.all([catalog.loaded(), flushed(inventory, clock)]);
    t.equal(table.count, 4);
    catalog.stop();
    await Promise.all([...handles, loading].map((one) => one.stop()));
  },
);

t.test(
  "a list waits for all steps when no other pool is being loaded",
  async (t) => {
    const { inventory, clock, catalog } = await followedCatalog({
      addedRows: 1,
    });
    const handles = await addTogether(inventory, "a", "b", "c");
    let isLoaded = false;
    const loaded = catalog.loaded().then(() => (isLoaded = true));
    await flushed(inventory, clock);
    t.equal(isLoaded, false);
    await flushed(inventory, clock);
    await flushed(inventory, clock);
    await loaded;
    t.equal(catalog.tables.get("VM")!.count, 3);
    catalog.stop();
    await Promise.all(handles.map((one) => one.stop()));
  },
);

t.test(
  "waiting for changes does not include pools that are loaded later",
  async (t) => {
    const { inventory, clock, catalog } = await followedCatalog();
    const table = catalog.tables.get("VM")!;
    const slow = createPool("a");
    const goOn = holdListing(slow, "VBD");
    const unreachable = createPool("x");
    unreachable.setState("connecting");
    const handles = [
      inventory.addPool("slow", slow),
      inventory.addPool("unreachable", unreachable),
    ];
    for (const [id, vm] of [
      ["first", "b"],
      ["second", "c"],
    ] as const) {
      const handle = inventory.addPool(id, createPool(vm));
      handles.push(handle);
      await until(() => handle.status().state === "watching");
      await flushed(inventory, clock);
    }
    t.equal(table.count, 1);
    table.observe({
      // Within the flush that adds the second pool, another one stops loading.
      rowSet: () => {
        unreachable.setState("backing-off");
      },
      rowRemoved: () => undefined,
      flushed: () => undefined,
    });
    let isSettled = false;
    void catalog.settled().then(() => (isSettled = true));
    await flushed(inventory, clock, 500);
    await flushed(inventory, clock);
    t.equal(handles[1]!.status().isLoading, false);
    t.equal(table.count, 2);
    t.equal(isSettled, true);
    goOn();
    catalog.stop();
    await Promise.all(handles.map((one) => one.stop()));
  },
);

t.test("an object is built when it is read, and not before", async (t) => {
  const pool = createPool("a", "b", "c");
  const { inventory, clock, handle, poll } = await mirror(pool);
  const { views, builds } = createTestViews();
  const catalog = createCatalog(inventory, { views, clock });
  const table = await catalog.follow("VM");
  t.equal(table.count, 3);
  t.equal(builds.size, 0, "all are listed, none is built");
  const row = table.findId(uuidOf("b"));
  t.equal(table.object(row)["name_label"], "b");
  table.json(row);
  t.same([...builds.values()], [1], "once, for all readers");
  const { revision } = catalog.feed;
  pool.put("VM", refOf("b"), { uuid: uuidOf("b"), name_label: "renamed" });
  await poll();
  await flushed(inventory, clock);
  t.same([...builds.values()], [1], "nor is it built again without readers");
  t.ok(catalog.feed.revision > revision);
  t.equal(
    catalog.feed.since({ feedId: catalog.feed.feedId, revision }),
    "resync",
  );
  t.equal(table.object(row)["name_label"], "renamed");
  catalog.stop();
  await handle.stop();
});

t.test(
  "a pool is loading until it was listed or cannot be reached",
  async (t) => {
    const pool = createPool("a");
    pool.setState("connecting");
    const { inventory } = createTestInventory();
    const statuses: boolean[] = [];
    inventory.onMirrorStatus(() => {
      statuses.push(inventory.mirrorStatus("p")?.isLoading === true);
    });
    const handle = inventory.addPool("p", pool);
    t.equal(handle.status().isLoading, true, "it is being connected");
    pool.setState("backing-off");
    await until(() => !handle.status().isLoading);
    t.equal(statuses.at(-1), false, "which is reported");
    pool.setState("connecting");
    t.equal(handle.status().isLoading, false, "nor while that is tried again");
    pool.setState("connected");
    await until(() => handle.status().state === "watching");
    t.ok(statuses.includes(true));
    t.equal(handle.status().isLoading, false);
    await handle.stop();
  },
);
