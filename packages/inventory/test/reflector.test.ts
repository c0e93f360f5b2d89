import { XapiError, XoError } from "@xo-server/model";
import t from "tap";
import { FakePool } from "./fake-pool.js";
import {
  contentOf,
  contentOfPool,
  createTestInventory,
  mirror,
} from "./mirror-pool.js";
import { until } from "./until.js";
import { poolOf } from "./listed-pool.js";

t.test("crucial classes are listed first, four at a time", async (t) => {
  const names = ["task", "console", "VBD", "Bond", "VM", "PIF", "host", "pool"];
  const pool = new FakePool(names);
  const { handle } = await mirror(pool);
  t.same(pool.listed.slice(0, 4), ["pool", "host", "VM", "VBD"]);
  t.same(pool.listed.toSorted(), names.toSorted());
  t.equal(pool.mostConcurrentLists, 4);
  await handle.stop();
});

t.test("only the requested classes are mirrored", async (t) => {
  const pool = poolOf(3);
  pool.put("host", "OpaqueRef:h", { uuid: "h" });
  const { handle, inventory, poll } = await mirror(pool, { classes: ["host"] });
  pool.put("VM", "OpaqueRef:v", {});
  await poll();
  t.same([...inventory.counts("p")], [["host", 1]]);
  t.same(pool.listed, ["host"]);
  await handle.stop();
});

t.test("changes during the listing arrive again as events", async (t) => {
  const pool = poolOf(20);
  let at = 0;
  pool.whileListing = () => {
    pool.put("VM", `OpaqueRef:${at}`, { uuid: `u${at}`, n: 1 });
    pool.put("VM", `OpaqueRef:new${at}`, { uuid: `new${at}` });
    pool.delete("VM", `OpaqueRef:${19 - at}`);
    at++;
  };
  const { handle, inventory, poll } = await mirror(pool);
  await poll();
  t.same(contentOf(inventory, "p"), contentOfPool(pool));
  await handle.stop();
});

t.test("after a reconnect only real differences are reported", async (t) => {
  const pool = poolOf(10);
  const { handle, inventory, changes, lines } = await mirror(pool);
  changes.length = 0;
  pool.put("VM", "OpaqueRef:3", { uuid: "u3", n: 3 });
  pool.delete("VM", "OpaqueRef:4");
  pool.put("VM", "OpaqueRef:new", { uuid: "new" });
  pool.listed.length = 0;
  pool.lose("events-lost");
  await until(() => pool.listed.length === 5);
  t.equal(handle.status().state, "re-listing");
  await until(() => handle.status().state === "watching");
  t.same(changes.map(({ kind, ref }) => `${kind} ${ref}`).toSorted(), [
    "add OpaqueRef:new",
    "remove OpaqueRef:4",
    "update OpaqueRef:3",
  ]);
  t.same(contentOf(inventory, "p"), contentOfPool(pool));
  t.match(lines, [{ level: "info", message: "p: listing again: events-lost" }]);
  await handle.stop();
});

t.test("an unreachable pool keeps its objects, stale", async (t) => {
  const pool = poolOf(5);
  const { handle, inventory, changes, clock, poll } = await mirror(pool);
  changes.length = 0;
  const notified: string[] = [];
  inventory.onMirrorStatus((id) => notified.push(id));
  t.equal(handle.status().staleSince, undefined);
  const lostAt = clock.now();
  pool.setState("backing-off");
  clock.advance(60_000);
  pool.setState("connecting");
  t.equal(handle.status().staleSince, lostAt, "since it was lost first");
  t.equal(inventory.objects, 5);
  t.same(notified, ["p"]);
  pool.setState("connected");
  t.equal(handle.status().staleSince, lostAt, "no event has arrived yet");
  await poll();
  t.equal(handle.status().staleSince, undefined);
  t.same(changes, [], "nothing flickered");
  await handle.stop();
  t.equal(handle.status().state, "stopped");
  t.type(handle.status().staleSince, "number");
  t.equal(inventory.objects, 5);
});

t.test("a pool is listed when it is connected, not before", async (t) => {
  const pool = poolOf(2);
  pool.setState("connecting");
  const { inventory } = createTestInventory();
  const handle = inventory.addPool("p", pool);
  t.equal(handle.status().state, "connecting");
  t.same(pool.listed, []);
  pool.setState("connected");
  await until(() => handle.status().state === "watching");
  t.match(handle.status(), { objects: 2, revision: 2, token: /\d/ });
  await handle.stop();
  t.equal(pool.stateListeners, 0);
});

t.test("a failed listing is tried again, later and later", async (t) => {
  const pool = poolOf(4);
  const error = new XoError("CONNECTION_LOST", { address: "x", reason: "y" });
  pool.listingErrors.set("VM", { error });
  const { inventory, clock, lines } = createTestInventory({
    backoff: { firstMs: 1000, maxMs: 3000 },
  });
  const handle = inventory.addPool("p", pool);
  for (const waitMs of [750, 1500, 2250, 2250]) {
    await until(() => handle.status().state === "backing-off");
    t.equal(handle.status().lastError, error);
    pool.listed.length = 0;
    await until(() => clock.pending === 1);
    clock.advance(waitMs - 1);
    t.equal(handle.status().state, "backing-off");
    clock.advance(1);
    await until(() => pool.listed.includes("VM"));
  }
  await until(() => clock.pending === 1);
  pool.listingErrors.clear();
  clock.advance(3000);
  await until(() => handle.status().state === "watching");
  t.equal(handle.status().lastError, undefined);
  t.equal(inventory.objects, 4);
  t.equal(lines.filter(({ level }) => level === "warn").length, 5);
  await handle.stop();
});

t.test(
  "a class that fails for long is listed every 10 s at least",
  async (t) => {
    const pool = poolOf(4);
    const error = new XapiError("INTERNAL_ERROR", ["x"]);
    pool.listingErrors.set("VBD", { error });
    const { handle, clock } = await mirror(pool, { random: () => 1 });
    const delays: number[] = [];
    for (let i = 0; i < 10; i++) {
      pool.listed.length = 0;
      const from = clock.now();
      await until(() => {
        if (!pool.listed.includes("VBD")) clock.advance(100);
        return pool.listed.includes("VBD");
      });
      delays.push(clock.now() - from);
    }
    const longest = Math.max(...delays);
    t.ok(longest > 9_000, `pauses grow: ${longest} ms`);
    t.ok(longest < 11_000, `up to 10 s: ${longest} ms`);
    t.equal(handle.status().lastError, error);
    pool.listingErrors.clear();
    await until(() => {
      clock.advance(100);
      return handle.status().staleSince === undefined;
    });
    t.equal(handle.status().lastError, undefined);
    await handle.stop();
  },
);

t.test("deletions that were dropped are found by the counts", async (t) => {
  const pool = poolOf(6);
  pool.put("message", "OpaqueRef:m", {});
  const { handle, inventory, changes, poll } = await mirror(pool);
  changes.length = 0;
  pool.listed.length = 0;
  pool.forgetsDeletions = true;
  pool.delete("VM", "OpaqueRef:2");
  pool.put("VM", "OpaqueRef:new", { uuid: "new" });
  await poll();
  t.same(pool.listed, ["VM"], "only the class that differs");
  t.same(
    changes.map(({ kind, ref }) => `${kind} ${ref}`),
    ["add OpaqueRef:new", "remove OpaqueRef:2"],
  );
  t.same(contentOf(inventory, "p"), contentOfPool(pool));
  await handle.stop();
});

t.test("deletions of messages that were dropped are found", async (t) => {
  const pool = poolOf(6);
  for (let i = 0; i < 300; i++) pool.put("message", `OpaqueRef:m${i}`, { i });
  const { handle, inventory, clock, poll } = await mirror(pool);
  await poll();
  pool.listed.length = 0;
  pool.forgetsDeletions = true;
  for (let i = 0; i < 250; i++) pool.delete("message", `OpaqueRef:m${i}`);
  await poll();
  t.same(pool.listed, [], "not at once: bounded");
  clock.advance(60_000);
  await poll();
  t.same(pool.listed, ["message"], "the token has jumped");
  t.same(contentOf(inventory, "p"), contentOfPool(pool));
  pool.delete("message", "OpaqueRef:m299");
  for (let minute = 0; minute < 65; minute++) {
    await poll();
    clock.advance(60_000);
  }
  await poll();
  t.same(pool.listed, ["message", "message"], "and every hour");
  t.same(contentOf(inventory, "p"), contentOfPool(pool));
  await handle.stop();
});

t.test("roles, which XAPI counts as 0, are not listed again", async (t) => {
  const pool = poolOf(1, "role");
  const { handle, poll } = await mirror(pool);
  pool.listed.length = 0;
  await poll();
  t.same(pool.listed, []);
  await handle.stop();
});

t.test("a class is not listed again and again for its count", async (t) => {
  const pool = poolOf(3);
  const { handle, clock, poll } = await mirror(pool);
  const list = pool.listRecords.bind(pool);
  // The pool counts an object that it never lists.
  pool.listRecords = async (className, options) => {
    if (className !== "VM") return list(className, options);
    const hidden = pool.objects.get("VM")!.get("hidden");
    pool.objects.get("VM")!.delete("hidden");
    const result = await list(className, options);
    if (hidden !== undefined) pool.objects.get("VM")!.set("hidden", hidden);
    return result;
  };
  pool.objects.get("VM")!.set("hidden", {});
  pool.listed.length = 0;
  const listings: number[] = [];
  for (let second = 0; second < 60; second++) {
    await poll();
    clock.advance(1000);
    listings.push(pool.listed.length);
  }
  t.equal(listings.at(0), 1);
  t.equal(listings.at(3), 1);
  t.equal(listings.at(6), 2);
  t.equal(listings.at(-1), 4, "after 0, 5, 15 and 35 s");
  pool.lose(new XoError("CALL_TIMEOUT", { method: "event.from", ms: 1 }));
  await until(() => handle.status().state === "backing-off");
  clock.advance(1000);
  await until(() => handle.status().state === "watching");
  await poll();
  t.same(
    pool.listed.slice(4),
    ["pool", "host", "VM", "VBD", "message", "VM"],
    "at once after a loss of events",
  );
  await handle.stop();
});

t.test("events that break off are a loss", async (t) => {
  const pool = poolOf(3);
  const { handle, inventory, clock, lines } = await mirror(pool);
  pool.lose(new XoError("CALL_TIMEOUT", { method: "event.from", ms: 1 }));
  await until(() => handle.status().state === "backing-off");
  t.type(handle.status().staleSince, "number");
  t.match(lines, [{ level: "warn", message: /no response to event\.from/ }]);
  clock.advance(1000);
  await until(() => handle.status().state === "watching");
  t.equal(handle.status().staleSince, undefined);
  t.equal(inventory.objects, 3);
  await handle.stop();
});

t.test("a watch that fails immediately, twice, backs off", async (t) => {
  const pool = poolOf(1);
  const { handle, clock } = await mirror(pool);
  pool.lose("token-rewound");
  await until(() => pool.listed.length === 10);
  await until(() => handle.status().state === "watching");
  pool.lose("token-rewound");
  await until(() => handle.status().state === "backing-off");
  t.equal(pool.listed.length, 10);
  clock.advance(10_000);
  await until(() => handle.status().state === "watching");
  await handle.stop();
});

t.test("stopping in any state ends immediately", async (t) => {
  for (const state of ["connecting", "listing", "backing-off"] as const) {
    const pool = poolOf(30);
    if (state === "connecting") pool.setState("disconnected");
    if (state === "backing-off")
      pool.listingErrors.set("VM", { error: new Error("any") });
    const { inventory, clock } = createTestInventory();
    const handle = inventory.addPool("p", pool);
    await until(() => handle.status().state === state);
    await handle.stop();
    t.equal(handle.status().state, "stopped", state);
    t.equal(clock.pending, 0);
    t.equal(pool.stateListeners, 0);
    t.equal(pool.concurrentLists, 0);
  }
});
