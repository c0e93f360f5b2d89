import t from "tap";
import { FakePool } from "./fake-pool.js";
import {
  contentOf,
  contentOfPool,
  createTestInventory,
  mirror,
} from "./mirror-pool.js";
import { until } from "./until.js";

const vm = (name: string, more: object = {}) => ({
  uuid: `uuid-${name}`,
  name_label: name,
  power_state: "Running",
  memory_static_max: 4294967296,
  ...more,
});

function poolWith(...names: string[]): FakePool {
  const pool = new FakePool(["VM", "SR", "message"]);
  for (const name of names) pool.put("VM", `OpaqueRef:${name}`, vm(name));
  return pool;
}

t.test("objects are found by class and reference, and by uuid", async (t) => {
  const { inventory, handle } = await mirror(poolWith("a", "b"));
  t.same(inventory.get("p", "VM", "OpaqueRef:a"), vm("a"));
  t.equal(inventory.get("p", "VM", "OpaqueRef:c"), undefined);
  t.equal(inventory.get("p", "SR", "OpaqueRef:a"), undefined);
  t.equal(inventory.get("q", "VM", "OpaqueRef:a"), undefined);
  const found = inventory.getByUuid("uuid-b");
  t.match(found, { poolId: "p", className: "VM", ref: "OpaqueRef:b" });
  t.equal(inventory.getByUuid("uuid-c"), undefined);
  await handle.stop();
});

t.test("columns are read with and without the record", async (t) => {
  const { inventory, handle } = await mirror(poolWith("a"));
  const a = { poolId: "p", className: "VM", ref: "OpaqueRef:a" };
  t.equal(inventory.column(a, "name_label"), "a");
  t.equal(inventory.column(a, "memory_static_max"), 4294967296);
  t.equal(inventory.stats.cache.records, 0, "nothing was parsed");
  t.equal(inventory.column(a, "tags"), undefined);
  t.equal(inventory.column(a, "toString"), undefined);
  await handle.stop();
});

t.test("lists and counts are by class and pool", async (t) => {
  const { inventory } = createTestInventory();
  inventory.addPool("one", poolWith("a", "b"));
  inventory.addPool("two", poolWith("c"));
  await until(() => inventory.objects === 3);
  const names = (options?: { poolId: string }) =>
    [...inventory.list("VM", options)].map((o) => o.column("name_label"));
  t.same(names().sort(), ["a", "b", "c"]);
  t.same(names({ poolId: "two" }), ["c"]);
  t.equal(inventory.count("one", "VM"), 2);
  t.same([...inventory.counts("one")], [["VM", 2]]);
  t.same(inventory.pools, ["one", "two"]);
  t.throws(() => inventory.addPool("one", poolWith()), {
    code: "INVALID_PARAMETERS",
  });
  await inventory.stop();
});

t.test("a handle reads the current object", async (t) => {
  const pool = poolWith("a");
  const { inventory, handle, poll } = await mirror(pool);
  const a = inventory.getObject("p", "VM", "OpaqueRef:a")!;
  t.equal(a.record?.["name_label"], "a");
  const { revision } = a;
  pool.put("VM", "OpaqueRef:a", vm("renamed"));
  await poll();
  t.equal(a.column("name_label"), "renamed");
  t.equal(a.record?.["name_label"], "renamed");
  t.equal(a.uuid, "uuid-renamed");
  t.ok(a.revision! > revision!);
  t.equal(inventory.getByUuid("uuid-a"), undefined);
  pool.delete("VM", "OpaqueRef:a");
  await poll();
  t.equal(inventory.getByUuid("uuid-renamed"), undefined);
  pool.put("VM", "OpaqueRef:b", vm("b"));
  await poll();
  t.equal(inventory.getByUuid("uuid-renamed"), undefined);
  t.equal(a.record, undefined);
  t.equal(a.column("name_label"), undefined);
  t.equal(a.uuid, undefined);
  t.equal(a.revision, undefined);
  await handle.stop();
});

t.test("changes are sent in batches, each with its revision", async (t) => {
  const pool = poolWith("a", "b");
  const { inventory, handle, changes, poll } = await mirror(pool);
  changes.length = 0;
  const { revision } = inventory;
  pool.put("VM", "OpaqueRef:c", vm("c"));
  pool.put("VM", "OpaqueRef:a", vm("a", { power_state: "Halted" }));
  pool.delete("VM", "OpaqueRef:b");
  await poll();
  t.same(
    changes.map(({ kind, ref }) => [kind, ref]),
    [
      ["add", "OpaqueRef:c"],
      ["update", "OpaqueRef:a"],
      ["remove", "OpaqueRef:b"],
    ],
  );
  t.same(
    changes.map((change) => change.revision),
    [revision + 1, revision + 2, revision + 3],
  );
  t.match(changes[0], { poolId: "p", className: "VM" });
  const since = inventory.since(revision + 1);
  t.not(since, "resync");
  if (since !== "resync") {
    t.equal(since.count, 2);
    t.equal(since.ref(1), "OpaqueRef:b");
    t.equal(since.last, inventory.revision);
  }
  await handle.stop();
});

t.test("a reader whose cursor is too old has to resync", async (t) => {
  const pool = poolWith();
  const { inventory, handle, poll } = await mirror(pool, { ringSize: 4 });
  for (let i = 0; i < 10; i++) pool.put("VM", `OpaqueRef:${i}`, vm(`${i}`));
  await poll();
  t.equal(inventory.since(0), "resync");
  t.equal(inventory.since(5), "resync");
  t.same(
    refsOf(inventory.since(6)),
    [6, 7, 8, 9].map((i) => `OpaqueRef:${i}`),
  );
  t.same(refsOf(inventory.since(10)), []);
  t.equal(inventory.since(11), "resync", "a revision from another life");
  await handle.stop();
});

t.test("the ring holds references of any length", async (t) => {
  const pool = poolWith();
  const { inventory, handle, changes, poll } = await mirror(pool);
  const refs = Array.from(
    { length: 600 },
    (_, i) => `é${"x".repeat(i % 90)}${i}`,
  );
  for (const ref of refs) pool.put("VM", ref, vm(ref));
  await poll();
  t.same(
    changes.map(({ ref }) => ref),
    refs,
  );
  t.same(refsOf(inventory.since(0)), refs);
  for (const ref of refs) t.ok(inventory.get("p", "VM", ref));
  await handle.stop();
});

t.test("an error of a listener does not affect others", async (t) => {
  const pool = poolWith();
  const { inventory, handle, lines, changes, poll } = await mirror(pool);
  const leave = inventory.subscribe(() => {
    throw new Error("mine");
  });
  let received = 0;
  inventory.subscribe(() => received++);
  pool.put("VM", "OpaqueRef:a", vm("a"));
  await poll();
  t.equal(changes.length, 1);
  t.equal(received, 1);
  t.match(lines, [{ level: "error", message: /listener/ }]);
  leave();
  pool.put("VM", "OpaqueRef:b", vm("b"));
  await poll();
  t.equal(lines.length, 1);
  t.equal(received, 2);
  await handle.stop();
});

t.test("an error of a status listener does not affect others", async (t) => {
  const { inventory, lines } = createTestInventory();
  const leave = inventory.onMirrorStatus(() => {
    throw new Error("mine");
  });
  const handle = inventory.addPool("p", poolWith("a"));
  await until(() => handle.status().state === "watching");
  t.match(lines[0], { level: "error", message: /listener/ });
  leave();
  await handle.stop();
});

t.test(
  "objects of a removed pool are removed, and the feed reports it",
  async (t) => {
    const pool = poolWith("a", "b");
    const { inventory, changes } = await mirror(pool);
    changes.length = 0;
    await inventory.removePool("p");
    t.same(
      changes.map(({ kind }) => kind),
      ["remove", "remove"],
    );
    t.equal(inventory.objects, 0);
    t.same(inventory.pools, []);
    t.equal(inventory.mirrorStatus("p"), undefined);
    t.equal(inventory.stats.liveBytes, 0);
    await inventory.removePool("p");
    inventory.addPool("p", pool);
    await until(() => inventory.objects === 2);
    await inventory.stop();
  },
);

t.test("hostile keys are ordinary members", async (t) => {
  const pool = new FakePool(["VM"]);
  const hostile = JSON.parse(
    `{"__proto__":{"polluted":true},"constructor":1,"uuid":"__proto__","name_label":"\\u0000\\"é"}`,
  ) as object;
  pool.put("VM", "__proto__", hostile);
  pool.put("VM", "constructor", vm("c"));
  const { inventory, handle } = await mirror(pool);
  const record = inventory.get("p", "VM", "__proto__")!;
  t.ok(Object.hasOwn(record, "__proto__"));
  t.equal(Object.getPrototypeOf(record), Object.prototype);
  t.equal(({} as { polluted?: boolean }).polluted, undefined);
  t.equal(inventory.getByUuid("__proto__")?.column("name_label"), '\u0000"é');
  t.ok(inventory.get("p", "VM", "constructor"));
  t.equal(inventory.get("__proto__", "__proto__", "__proto__"), undefined);
  await handle.stop();
});

t.test("equal content after everything was read twice", async (t) => {
  const pool = poolWith(...Array.from({ length: 50 }, (_, i) => `vm${i}`));
  const { inventory, handle } = await mirror(pool);
  t.same(contentOf(inventory, "p"), contentOfPool(pool));
  t.same(contentOf(inventory, "p"), contentOfPool(pool));
  t.equal(inventory.stats.cache.hits, 50, "the second pass parses nothing");
  await handle.stop();
});

t.test("a cache that is too small by half still serves a part", async (t) => {
  const names = Array.from({ length: 100 }, (_, i) => `vm${i}`);
  const large = await mirror(poolWith(...names));
  contentOf(large.inventory, "p");
  await large.handle.stop();
  const recordCacheBytes = large.inventory.stats.cache.bytes / 2;
  let seed = 1;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const { inventory, handle } = await mirror(poolWith(...names), {
    recordCacheBytes,
    random,
  });
  for (let pass = 0; pass < 10; pass++) contentOf(inventory, "p");
  const { hits, misses, bytes } = inventory.stats.cache;
  t.ok(bytes <= recordCacheBytes);
  t.ok(hits / (hits + misses) > 0.1, `${hits} hits, ${misses} misses`);
  await handle.stop();
});

t.test("the change rate is the mean of ten seconds", async (t) => {
  const pool = poolWith();
  const { inventory, handle, clock, poll } = await mirror(pool);
  for (let i = 0; i < 20; i++) pool.put("VM", `OpaqueRef:${i}`, vm(`${i}`));
  await poll();
  t.equal(inventory.changesPerSecond, 0, "the running second does not count");
  clock.advance(1000);
  t.equal(inventory.changesPerSecond, 2);
  t.equal(handle.status().changesPerSecond, 2);
  clock.advance(60_000);
  t.equal(inventory.changesPerSecond, 0);
  await handle.stop();
});

function refsOf(changes: "resync" | Iterable<{ ref: string }>): string[] {
  return changes === "resync" ? [] : [...changes].map(({ ref }) => ref);
}
