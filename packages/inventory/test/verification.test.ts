import { XapiError } from "@xo-server/model";
import t from "tap";
import { FakePool } from "./fake-pool.js";
import { contentOf, contentOfPool, mirror } from "./mirror-pool.js";
import { until } from "./until.js";

function poolOf(count: number): FakePool {
  const pool = new FakePool(["VM", "host", "message"]);
  for (let i = 0; i < count; i++)
    pool.put("VM", `OpaqueRef:${i}`, { uuid: `u${i}`, n: 0, name: "x" });
  pool.put("message", "OpaqueRef:m", { uuid: "m" });
  return pool;
}

/** Runs `work` while the pool answers polls. */
async function polling<T>(pool: FakePool, work: Promise<T>): Promise<T> {
  let isDone = false;
  void work
    .catch(() => undefined)
    .then(() => {
      isDone = true;
    });
  while (!isDone) {
    pool.poll();
    // With an answer in each turn the slicer would never be idle, which listings wait for.
    for (let turn = 0; turn < 4; turn++)
      await new Promise((resolve) => setImmediate(resolve));
  }
  return work;
}

t.test("a mirror that is equal has no differences", async (t) => {
  const pool = poolOf(20);
  const { handle, inventory, lines } = await mirror(pool);
  const progress: number[] = [];
  const result = await polling(
    pool,
    inventory.verify("p", { onProgress: (part) => progress.push(part) }),
  );
  t.same(result, { classes: 3, records: 21, differences: [], failed: [] });
  t.same(progress.at(-1), 1);
  t.same(inventory.stats.verification, { records: 21, differences: 0 });
  t.same(lines, []);
  await handle.stop();
});

t.test("differences are found, named, logged and repaired", async (t) => {
  const pool = poolOf(20);
  const { handle, inventory, lines } = await mirror(pool);
  // Without an event: what the mirror cannot know.
  const vms = pool.objects.get("VM")!;
  vms.set("OpaqueRef:3", { uuid: "u3", n: 3, name: "y" });
  vms.delete("OpaqueRef:4");
  vms.set("OpaqueRef:new", { uuid: "new" });
  const result = await polling(pool, inventory.verify("p"));
  t.same(
    result.differences.toSorted((a, b) => (a.kind < b.kind ? -1 : 1)),
    [
      { className: "VM", ref: "OpaqueRef:4", kind: "deleted", fields: [] },
      {
        className: "VM",
        ref: "OpaqueRef:3",
        kind: "different",
        fields: ["n", "name"],
      },
      { className: "VM", ref: "OpaqueRef:new", kind: "missing", fields: [] },
    ],
  );
  t.same(contentOf(inventory, "p"), contentOfPool(pool));
  t.equal(inventory.stats.verification.differences, 3);
  t.match(
    lines.filter(({ level }) => level === "error").map((one) => one.message),
    [
      "p: the mirror differs from the pool: VM OpaqueRef:3 different: n, name",
      "p: the mirror differs from the pool: VM OpaqueRef:new missing",
      "p: the mirror differs from the pool: VM OpaqueRef:4 deleted",
    ],
  );
  await handle.stop();
});

t.test("concurrent changes make no difference", async (t) => {
  const pool = poolOf(50);
  const { handle, inventory, lines } = await mirror(pool);
  let at = 0;
  pool.whileListing = () => {
    at++;
    pool.put("VM", `OpaqueRef:${at % 50}`, { uuid: "u", n: at, name: "x" });
    pool.put("VM", `OpaqueRef:${(at + 25) % 50}`, { uuid: "u", n: at });
    pool.put("VM", `OpaqueRef:new${at}`, { uuid: `new${at}` });
    pool.delete("VM", `OpaqueRef:new${at - 2}`);
    if (at % 3 === 0) pool.poll();
  };
  for (let round = 0; round < 10; round++) {
    const result = await polling(pool, inventory.verify("p"));
    t.same(result.differences, []);
  }
  t.same(lines, []);
  await handle.stop();
});

t.test(
  "only requested classes are read; one that fails is named",
  async (t) => {
    const pool = poolOf(5);
    const { handle, inventory } = await mirror(pool);
    pool.listed.length = 0;
    const error = new XapiError("INTERNAL_ERROR", ["odd"]);
    pool.listingErrors.set("VM", { error });
    const result = await polling(
      pool,
      inventory.verify("p", { classes: ["VM", "message"] }),
    );
    t.same(pool.listed, ["VM", "message"]);
    t.match(result, { classes: 1, failed: [{ className: "VM", error }] });
    t.equal(handle.status().staleSince, undefined);
    await handle.stop();
  },
);

t.test("a pool that is not followed cannot be verified", async (t) => {
  const pool = poolOf(5);
  const { handle, inventory, clock } = await mirror(pool);
  await t.rejects(inventory.verify("q"), { code: "NOT_CONNECTED" });
  const verifying = inventory.verify("p");
  await until(() => pool.concurrentLists > 0);
  await handle.stop();
  await t.rejects(verifying, { code: "NOT_CONNECTED" });
  await t.rejects(inventory.verify("p"), { code: "NOT_CONNECTED" });
  t.equal(clock.pending, 0);
});
