import t from "tap";
import { XapiError } from "@xo-server/model";
import { contentOf, contentOfPool, mirror } from "./mirror-pool.js";
import { poolOf, run } from "./snapshot-pool.js";
import { until } from "./until.js";

/** A server has mirrored the pool and was stopped; its pool listings are counted from here. */
async function leave(directory: string, issuer: string | undefined) {
  const pool = poolOf(20);
  pool.issuer = issuer;
  const first = await run(directory, pool);
  await until(first.isRestored);
  await first.poll();
  await first.inventory.stop();
  pool.listed.length = 0;
  return pool;
}

t.test(
  "after a restart events continue from the snapshot, without a listing",
  async (t) => {
    const directory = t.testdir();
    const pool = await leave(directory, "host started at 1");
    pool.put("VM", "OpaqueRef:3", { uuid: "u3", n: 3 });
    pool.put("VM", "OpaqueRef:new", { uuid: "new" });
    pool.delete("VM", "OpaqueRef:4");

    const second = await run(directory, pool);
    const { handle, inventory } = second;
    const states = new Set<string>();
    inventory.onMirrorStatus(() => states.add(handle.status().state));
    await until(second.isRestored);
    t.type(handle.status().staleSince, "number", "not current yet");
    await second.poll();
    t.equal(handle.status().staleSince, undefined);
    t.same(contentOf(inventory, "p"), contentOfPool(pool));
    t.same(pool.listed, []);
    t.notOk(states.has("re-listing"));
    await inventory.stop();

    const third = await run(directory, pool);
    await until(third.isRestored);
    await third.poll();
    t.same(pool.listed, [], "also after the next restart");
    await third.inventory.stop();
  },
);

t.test("a class whose deletions XAPI has dropped is listed", async (t) => {
  const directory = t.testdir();
  const pool = await leave(directory, "host started at 1");
  pool.forgetsDeletions = true;
  pool.delete("VM", "OpaqueRef:4");
  const second = await run(directory, pool);
  await until(second.isRestored);
  await second.poll();
  t.same(contentOf(second.inventory, "p"), contentOfPool(pool));
  t.same(pool.listed, ["VM"]);
  await second.inventory.stop();
});

for (const [why, issuer, next] of [
  ["XAPI was started again", "host started at 1", "host started at 2"],
  ["the coordinator is another host", "one", "other"],
  ["the pool does not report who issues tokens", undefined, undefined],
] as const)
  t.test(`after a restart the pool is listed when ${why}`, async (t) => {
    const directory = t.testdir();
    const pool = await leave(directory, issuer);
    pool.issuer = next;
    pool.forgetsDeletions = true;
    pool.delete("VM", "OpaqueRef:4");
    const second = await run(directory, pool);
    await until(() => pool.listed.length === 4);
    await until(() => second.handle.status().staleSince === undefined);
    t.same(contentOf(second.inventory, "p"), contentOfPool(pool));
    await second.inventory.stop();
  });

t.test("classes that the snapshot lacks are listed", async (t) => {
  const directory = t.testdir();
  const pool = await leave(directory, "host started at 1");
  pool.objects.set("SR", new Map([["OpaqueRef:sr", { uuid: "sr" }]]));
  const second = await run(directory, pool);
  await until(() => pool.listed.length === 5);
  await until(() => second.handle.status().staleSince === undefined);
  t.same(contentOf(second.inventory, "p"), contentOfPool(pool));
  await second.inventory.stop();
});

t.test("a class that has failed is listed after a restart", async (t) => {
  const directory = t.testdir();
  const pool = poolOf(5);
  pool.issuer = "host started at 1";
  pool.listingErrors.set("VM", {
    error: new XapiError("INTERNAL_ERROR", ["odd"]),
  });
  const first = await run(directory, pool);
  await until(first.isRestored);
  await first.poll();
  t.equal(first.inventory.count("p", "VM"), 0);
  await first.inventory.stop();
  pool.listingErrors.clear();
  pool.listed.length = 0;
  const second = await run(directory, pool);
  await until(() => pool.listed.length === 4);
  await until(() => second.handle.status().staleSince === undefined);
  t.same(contentOf(second.inventory, "p"), contentOfPool(pool));
  await second.inventory.stop();
});

t.test(
  "messages are listed when more of them may have been deleted than XAPI keeps",
  async (t) => {
    const directory = t.testdir();
    const pool = poolOf(2);
    pool.objects.set("message", new Map());
    pool.issuer = "host started at 1";
    pool.put("message", "OpaqueRef:m", { uuid: "m" });
    const first = await run(directory, pool);
    await until(first.isRestored);
    await first.poll();
    await first.inventory.stop();
    pool.listed.length = 0;
    pool.forgetsDeletions = true;
    pool.delete("message", "OpaqueRef:m");
    for (let n = 0; n < 300; n++)
      pool.put("message", `OpaqueRef:m${n}`, { uuid: `m${n}` });

    const second = await run(directory, pool);
    await until(second.isRestored);
    await second.poll();
    t.same(contentOf(second.inventory, "p"), contentOfPool(pool));
    t.same(pool.listed, ["message"]);
    await second.inventory.stop();
  },
);

t.test(
  "a class that is listed after a disconnection does not make the pool current",
  async (t) => {
    const pool = poolOf(5);
    pool.listingErrors.set("VM", {
      error: new XapiError("INTERNAL_ERROR", ["odd"]),
    });
    const { handle, inventory, clock, poll } = await mirror(pool);
    pool.setState("backing-off");
    pool.put("host", "OpaqueRef:h", { uuid: "h" });
    pool.setState("connected");
    pool.listingErrors.clear();
    clock.advance(1_000);
    await until(() => inventory.count("p", "VM") === 5);
    await new Promise((resolve) => setImmediate(resolve));
    t.type(handle.status().staleSince, "number", "the host is not known yet");
    await poll();
    t.equal(handle.status().staleSince, undefined);
    t.same(contentOf(inventory, "p"), contentOfPool(pool));
    await handle.stop();
  },
);

t.test(
  "a watch that breaks is continued once, then the pool is listed",
  async (t) => {
    const pool = poolOf(5);
    pool.issuer = "host started at 1";
    const { handle, inventory, clock, poll } = await mirror(pool);
    await poll();
    pool.listed.length = 0;
    const broken = async () => {
      pool.lose(new Error("event.from fails"));
      await until(() => handle.status().state === "backing-off");
      clock.advance(60_000);
      await until(() => handle.status().state === "watching");
    };
    await broken();
    t.same(pool.listed, []);
    pool.put("VM", "OpaqueRef:1", { uuid: "u1", n: 1 });
    await broken();
    t.equal(pool.listed.length, 4);
    t.same(contentOf(inventory, "p"), contentOfPool(pool));
    await handle.stop();
  },
);
