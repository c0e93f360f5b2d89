import { XapiError, XoError } from "@xo-server/model";
import t from "tap";
import { contentOf, contentOfPool, mirror } from "./mirror-pool.js";
import { until } from "./until.js";
import { poolOf } from "./listed-pool.js";

const refusal = new XapiError("MESSAGE_METHOD_UNKNOWN", ["get_all_records"]);

t.test("a class the pool does not have stops no other", async (t) => {
  const pool = poolOf(4);
  pool.listingErrors.set("VBD", { error: refusal });
  const { handle, inventory, clock, lines, poll } = await mirror(pool);
  t.type(handle.status().staleSince, "number", "one refusal is not proof");
  t.equal(handle.status().lastError, refusal);
  pool.listed.length = 0;
  clock.advance(1000);
  await until(() => handle.status().staleSince === undefined);
  t.same(pool.listed, ["VBD"], "confirmed by a second answer");
  t.equal(handle.status().lastError, undefined);
  clock.advance(100_000);
  await poll();
  t.same(pool.listed, ["VBD"], "not listed again");
  t.same([...inventory.counts("p")], [["VM", 4]]);
  t.match(lines, [
    { level: "warn", message: /^p: VBD cannot be listed/ },
    { level: "warn", message: /^p: VBD cannot be listed/ },
  ]);
  await handle.stop();
});

t.test("a refused class that the pool counts is tried again", async (t) => {
  const pool = poolOf(4);
  pool.listingErrors.set("VM", { error: refusal });
  const { handle, inventory, clock, poll } = await mirror(pool);
  clock.advance(1000);
  await until(() => handle.status().staleSince === undefined);
  t.equal(inventory.objects, 0);
  pool.listingErrors.clear();
  await poll();
  t.same(contentOf(inventory, "p"), contentOfPool(pool));
  pool.put("VM", "OpaqueRef:0", { uuid: "u0", n: 2 });
  await poll();
  t.same(contentOf(inventory, "p"), contentOfPool(pool), "and followed");
  await handle.stop();
});

const unreadable = [
  new XapiError("INTERNAL_ERROR", ["odd"]),
  new XapiError("HANDLE_INVALID", ["VM", "OpaqueRef:1"]),
  new XoError("BAD_ANSWER", { address: "a", reason: "b", start: "c" }),
  new XoError("ANSWER_TOO_DEEP", { depth: 1, limit: 1 }),
  refusal,
  new XapiError("MESSAGE_REMOVED", []),
  new XapiError("RBAC_PERMISSION_DENIED", ["vm.get_all_records", "no"]),
];
for (const error of unreadable)
  t.test(
    `re-listing, ${error.code} once: stale until it has been read`,
    async (t) => {
      const pool = poolOf(10);
      const { handle, inventory, clock, lines } = await mirror(pool);
      pool.put("VM", "OpaqueRef:7", { uuid: "u7", n: 7 });
      pool.delete("VM", "OpaqueRef:8");
      pool.put("VM", "OpaqueRef:new", { uuid: "new" });
      const lostAt = clock.now();
      pool.listingErrors.set("VM", { error, once: true });
      pool.listed.length = 0;
      pool.lose("new-session");
      await until(() => pool.listed.length === 5);
      await until(() => handle.status().state === "watching");
      clock.advance(100);
      t.equal(handle.status().staleSince, lostAt);
      t.equal(handle.status().lastError, error);
      t.equal(inventory.count("p", "VM"), 10, "nothing was removed");
      clock.advance(1000);
      await until(() => handle.status().staleSince === undefined);
      t.equal(handle.status().lastError, undefined);
      t.same(contentOf(inventory, "p"), contentOfPool(pool));
      t.equal(lines.filter(({ level }) => level === "warn").length, 1);
      await handle.stop();
    },
  );

t.test("a class that fails always delays no other", async (t) => {
  const pool = poolOf(10);
  const error = new XapiError("INTERNAL_ERROR", ["odd"]);
  pool.listingErrors.set("host", { error });
  const { handle, inventory, clock, poll } = await mirror(pool, {
    backoff: { firstMs: 1000, maxMs: 8000 },
  });
  pool.listed.length = 0;
  for (let second = 0; second < 60; second++) {
    pool.put("VM", "OpaqueRef:1", { uuid: "u1", n: second });
    await poll();
    clock.advance(1000);
    await new Promise((resolve) => setImmediate(resolve));
    t.type(handle.status().staleSince, "number");
  }
  t.equal(inventory.get("p", "VM", "OpaqueRef:1")!["n"], 59);
  t.ok(pool.listed.length > 5 && pool.listed.length < 14, "with pauses");
  await handle.stop();
});

t.test(
  "a retained class that is refused for a minute is removed",
  async (t) => {
    const pool = poolOf(10);
    const { handle, inventory, clock } = await mirror(pool);
    pool.listingErrors.set("VM", { error: refusal });
    pool.lose("new-session");
    await until(() => pool.listed.length === 10);
    await until(() => handle.status().state === "watching");
    let seconds = 0;
    for (; inventory.objects > 0 && seconds < 1000; seconds++) {
      t.type(handle.status().staleSince, "number");
      clock.advance(1000);
      await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setImmediate(resolve));
    }
    t.ok(seconds >= 60 && seconds < 130, `${seconds} s`);
    await until(() => handle.status().staleSince === undefined);
    await handle.stop();
  },
);

t.test("an answer without any class is not an empty pool", async (t) => {
  const pool = poolOf(10);
  const { handle, inventory, clock } = await mirror(pool);
  pool.listableClasses = async () => [];
  pool.lose("new-session");
  await until(() => handle.status().state === "backing-off");
  t.equal(inventory.objects, 10);
  pool.listableClasses = async () => ["host"];
  clock.advance(10_000);
  await until(() => handle.status().state === "watching");
  t.equal(inventory.objects, 10, "listed although it is not named");
  await handle.stop();
});
