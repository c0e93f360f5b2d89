import t, { type Test } from "tap";
import { createCatalog, type Frame, type Priority } from "@xo-server/inventory";
import {
  catalogOf,
  createPool,
  flushed,
  objectOf,
  POOL_ID,
  record,
  refOf,
  uuidOf,
} from "./catalog-pool.js";
import { createTestInventory, mirror } from "./mirror-pool.js";
import { createTestViews } from "./test-views.js";
import { until } from "./until.js";

t.test(
  "objects are built from records, with the common properties",
  async (t) => {
    const pool = createPool("a");
    pool.put("VBD", refOf("disk"), record("disk", { VM: refOf("a") }));
    const { catalog, stop } = await catalogOf(pool);
    t.same(objectOf(catalog, uuidOf("disk")), {
      id: uuidOf("disk"),
      type: "VBD",
      uuid: uuidOf("disk"),
      $pool: POOL_ID,
      $poolId: POOL_ID,
      _xapiRef: refOf("disk"),
      VM: uuidOf("a"),
      device: null,
    });
    t.equal(catalog.classOf("VM-template"), "VM");
    t.equal(catalog.classOf("message"), undefined);
    await t.rejects(catalog.follow("message"), { code: "INVALID_PARAMETERS" });
    await stop();
  },
);

t.test("add and remove within an interval cancel out", async (t) => {
  const pool = createPool("a");
  const { frames, builds, poll, flush, stop } = await catalogOf(pool);
  const published = [...builds].length;
  pool.put("SR", refOf("new"), record("new"));
  await poll();
  pool.delete("SR", refOf("new"));
  await poll();
  await flush();
  t.equal(frames.length, 0);
  t.equal(builds.size, published, "nothing was built");
  pool.delete("SR", refOf("sr"));
  await poll();
  pool.put("SR", refOf("sr"), record("sr"));
  await poll();
  await flush();
  t.equal(frames.length, 0, "removed and back as it was");
  pool.delete("SR", refOf("sr"));
  await poll();
  pool.put("SR", refOf("again"), record("sr", { name_label: "other" }));
  await poll();
  await flush();
  t.same(kindsOf(frames), ["update"], "the same id under another reference");
  await stop();
});

t.test(
  "a view is rebuilt when something that it has read changes, and only then",
  async (t) => {
    const bench = await observeBuilds();
    await changesOfReadObjects(t, bench);
    await objectsThatAppear(t, bench);
  },
);

type Builds = Awaited<ReturnType<typeof observeBuilds>>;

async function observeBuilds() {
  const pool = createPool("a", "b");
  const disk = (more: object) => record("disk", { VM: refOf("a"), ...more });
  pool.put("VBD", refOf("disk"), disk({}));
  pool.put(
    "VM",
    refOf("b"),
    record("b", {
      VBDs: [refOf("disk"), refOf("late")],
      twin: uuidOf("late vm"),
    }),
  );
  const { builds, poll, flush, stop } = await catalogOf(pool);
  const after = async (change: () => void) => {
    builds.clear();
    change();
    await poll();
    await flush();
    await flush();
    const names = [...builds].map(([key, count]) => `${key} ${count}`);
    return names.map((name) => readable(name)).sort();
  };
  return { pool, disk, stop, after };
}

async function changesOfReadObjects(t: Test, { after, pool, disk }: Builds) {
  t.same(
    await after(() => {
      pool.put("VBD", refOf("disk"), disk({ device: "xvda" }));
    }),
    ["VBD disk 1"],
    "b reads the disk's id only",
  );
  t.same(
    await after(() => {
      pool.put("host", refOf("host"), record("host", { name_label: "h" }));
    }),
    ["VM a 1"],
    "a reads the host's name",
  );
  t.same(
    await after(() => {
      const busy = { name_label: "h", load: 1 };
      pool.put("host", refOf("host"), record("host", busy));
    }),
    [],
    "no view reads the host's load",
  );
  t.same(
    await after(() => {
      const renamed = { name_label: "i", load: 1 };
      pool.put("host", refOf("host"), record("host", renamed));
    }),
    ["VM a 1"],
    "but its name, still",
  );
  t.same(
    await after(() => {
      pool.delete("host", refOf("host"));
    }),
    ["VM a 1"],
    "and its deletion",
  );
  t.same(
    await after(() => {
      const back = { name_label: "i", load: 2 };
      pool.put("host", refOf("host"), record("host", back));
    }),
    ["VM a 1"],
    "and that it is back, as it was",
  );
}

async function objectsThatAppear(t: Test, { after, pool, stop }: Builds) {
  t.same(
    await after(() => {
      pool.put("VBD", refOf("late"), record("late"));
    }),
    ["VBD late 1", "VM b 1"],
    "b has asked for an object that was not there",
  );
  t.same(
    await after(() => {
      pool.put("VM", refOf("late vm"), record("late vm"));
    }),
    ["VM b 1", "VM late vm 1"],
    "and for a record by its uuid",
  );
  t.same(
    await after(() => {
      pool.put("message", refOf("m"), record("m"));
    }),
    [],
  );
  t.same(
    await after(() => {
      pool.put("pool", refOf("pool"), record("pool", { name_label: "q" }));
    }),
    ["VM a 1", "VM b 1", "VM late vm 1", "pool pool 1"],
    "VMs read the pool's name",
  );
  await stop();
}

t.test(
  "another type of the same object is a removal and an addition",
  async (t) => {
    const pool = createPool("a");
    const { catalog, frames, poll, flush, stop } = await catalogOf(pool);
    pool.put("VM", refOf("a"), record("a", { is_a_template: true }));
    await poll();
    await flush();
    t.match(frames[0]!.changes, [
      { kind: "remove", type: "VM", id: uuidOf("a") },
      { kind: "add", type: "VM-template", id: uuidOf("a") },
    ]);
    const table = catalog.tables.get("VM")!;
    t.match(table.summary("VM"), { count: 0, digest: { high: 0, low: 0 } });
    t.equal(frames[0]!.summaries.get("VM-template")?.count, 1);
    t.equal(table.revision(table.findId(uuidOf("a"))), 2);
    await stop();
  },
);

t.test("an object that two pools share is shown once", async (t) => {
  const { catalog, inventory, frames, flush, stop } =
    await catalogOf(createPool());
  const other = createPool();
  other.put("pool", refOf("pool"), record("pool 2"));
  const handle = inventory.addPool("q", other);
  await until(() => handle.status().state === "watching");
  await flush();
  const sr = catalog.tables.get("SR")!;
  t.equal(sr.count, 1);
  t.equal(sr.pool(sr.findId(uuidOf("sr"))), "p");
  t.same(kindsOf(frames), ["add"], "the other pool itself");
  await inventory.removePool("p");
  await flush();
  t.equal(sr.count, 1);
  t.equal(sr.pool(sr.findId(uuidOf("sr"))), "q");
  const published = frames.flatMap(({ changes }) => changes);
  t.match(
    published.find(({ type }) => type === "SR"),
    { kind: "update", pool: "q" },
  );
  await handle.stop();
  await stop();
});

t.test(
  "a pool that is disconnected and listed again without changes reports none",
  async (t) => {
    const pool = createPool("a", "b");
    const { catalog, clock, handle, frames, flush, stop } =
      await catalogOf(pool);
    const { built } = catalog.stats;
    pool.lose(new Error("cut off"));
    await until(() => handle.status().staleSince !== undefined);
    await flush();
    clock.advance(60_000);
    await until(() => handle.status().staleSince === undefined);
    await flush();
    t.equal(frames.length, 0);
    t.equal(catalog.stats.built, built);
    t.equal(catalog.tables.get("VM")!.count, 2);
    await stop();
  },
);

t.test("one object is found by id or reference, followed or not", async (t) => {
  const pool = createPool("a");
  pool.put("VM", refOf("t"), record("t", { isDefault: true }));
  const { inventory, clock, stop } = await catalogOf(pool);
  const { views } = createTestViews();
  for (const followed of [false, true]) {
    const catalog = createCatalog(inventory, { views, clock });
    if (followed) await catalog.follow("VM");
    t.match(objectOf(catalog, uuidOf("a")), { name_label: "a" });
    t.match(objectOf(catalog, refOf("a")), { name_label: "a" });
    const id = `${POOL_ID}-${uuidOf("t")}`;
    t.match(objectOf(catalog, id), { id, uuid: uuidOf("t") });
    t.match(catalog.get(id), { id, type: "VM", pool: "p" });
    for (const unknown of ["", "x", uuidOf("t"), refOf("x"), "OpaqueRef:NULL"])
      t.equal(catalog.get(unknown), undefined);
    catalog.stop();
  }
  await stop();
});

t.test("a class that is followed while it is listed is complete", async (t) => {
  const pool = createPool("a", "b", "c", "d", "e", "f", "g");
  pool.batchSize = 1;
  const { inventory, clock } = createTestInventory();
  const { views } = createTestViews();
  const catalog = createCatalog(inventory, { views, clock });
  const rows: number[] = [];
  const following = catalog.follow("VM", (table) => {
    table.observe({
      rowSet: (row) => rows.push(row),
      rowRemoved: () => undefined,
      flushed: () => undefined,
    });
  });
  const handle = inventory.addPool("p", pool);
  const table = await following;
  t.equal(catalog.follow("VM") instanceof Promise, true);
  await until(() => handle.status().state === "watching");
  await flushed(inventory, clock);
  t.equal(table.count, 7);
  t.equal(
    rows.length,
    7,
    "an observer from the beginning has received all changes",
  );
  catalog.stop();
  await t.rejects(catalog.follow("SR"), { code: "CLOSED" });
  await handle.stop();
});

t.test(
  "a class that is filled in the background is needed by a client: it is urgent",
  async (t) => {
    const { inventory, clock } = await mirror(createPool("a"));
    const { views } = createTestViews();
    const catalog = createCatalog(inventory, { views, clock });
    const priorities: (Priority | undefined)[] = [];
    const run = inventory.runInSlices.bind(inventory);
    inventory.runInSlices = (lane, steps, priority) => {
      if (lane === "views of VM") priorities.push(priority);
      return run(lane, steps, priority);
    };
    const later = catalog.follow("VM", undefined, "background");
    const now = catalog.follow("VM");
    t.equal(await later, await now, "the same table");
    t.same(priorities, ["background", "normal"]);
    await catalog.follow("VM");
    t.equal(priorities.length, 2, "it is complete");
    catalog.stop();
  },
);

function kindsOf(frames: readonly Frame[]): string[] {
  return frames.flatMap(({ changes }) => changes.map(({ kind }) => kind));
}

/** Names instead of uuids. */
function readable(text: string): string {
  return text.replace(/\/OpaqueRef:(\S+)/, (_, uuid: string) => {
    const hex = uuid.replaceAll("-", "").replace(/(?:00)+$/, "");
    return ` ${Buffer.from(hex, "hex").toString()}`;
  });
}
