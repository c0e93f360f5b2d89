import t from "tap";
import {
  catalogOf,
  createPool,
  record,
  refOf,
  uuidOf,
} from "./catalog-pool.js";

t.test("a change is sent once per interval, as a patch", async (t) => {
  const pool = createPool("a", "b");
  const { catalog, frames, poll, flush, stop } = await catalogOf(pool);
  for (const name of ["x", "y", "z"]) {
    pool.put("VM", refOf("a"), record("a", { other: { name } }));
    await poll();
  }
  t.equal(frames.length, 0);
  await flush();
  t.equal(frames.length, 1);
  const [change] = frames[0]!.changes;
  t.equal(frames[0]!.changes.length, 1);
  t.match(change, { kind: "update", id: uuidOf("a"), type: "VM", pool: "p" });
  t.equal(
    change!.patch,
    undefined,
    "host is null now: no patch can express it",
  );
  pool.put("VM", refOf("a"), record("a", { other: { name: "q" } }));
  await poll();
  await flush();
  t.equal(frames[1]!.changes[0]!.patch?.toString(), `{"other":{"name":"q"}}`);
  t.equal(catalog.feed.revision, 2);
  await stop();
});

t.test(
  "the first change is published soon, the next ones at the end of the interval",
  async (t) => {
    const pool = createPool("a");
    const { frames, poll, flush, stop } = await catalogOf(pool);
    const change = async (name: string) => {
      pool.put("VM", refOf("a"), record("a", { other: { name } }));
      await poll();
    };
    await flush(1_000);
    await change("x");
    await flush(9);
    t.equal(frames.length, 0);
    await flush(1);
    t.equal(frames.length, 1);
    await change("y");
    await flush(40);
    t.equal(frames.length, 1, "so soon after the last one");
    await flush(10);
    t.equal(frames.length, 2);
    await stop();
  },
);

t.test("a frame is encoded once per encoding", async (t) => {
  const pool = createPool("a");
  const { catalog, frames, poll, flush, stop } = await catalogOf(pool);
  pool.put("SR", refOf("s2"), record("s2"));
  await poll();
  await flush();
  const before = catalog.stats.feedBytes;
  let calls = 0;
  const encode = () => {
    calls++;
    return Buffer.alloc(100);
  };
  const first = frames[0]!.encoded("plain", encode);
  t.equal(frames[0]!.encoded("plain", encode), first);
  frames[0]!.encoded("other", encode);
  t.equal(calls, 2);
  t.equal(catalog.stats.feedBytes - before, 200);
  await stop();
});

t.test("the feed's history is limited, and so is the cache", async (t) => {
  const pool = createPool("a");
  const { catalog, poll, flush, stop } = await catalogOf(pool, {
    feedBytes: 4096,
    viewCacheBytes: 4096,
  });
  const { feedId } = catalog.feed;
  for (let i = 0; i < 40; i++) {
    pool.put("SR", refOf(`s${i}`), record(`s${i}`));
    await poll();
    await flush();
    t.ok(catalog.stats.feedBytes <= 4096);
    t.ok(catalog.stats.cache.bytes <= 4096);
  }
  t.equal(catalog.feed.since({ feedId, revision: 0 }), "resync");
  t.equal(catalog.feed.since({ feedId: "other", revision: 40 }), "resync");
  t.equal(catalog.feed.since({ feedId, revision: 41 }), "resync");
  t.same(catalog.feed.since({ feedId, revision: 40 }), []);
  t.equal(catalog.feed.since({ feedId, revision: 39 }).length, 1);
  const table = catalog.tables.get("SR")!;
  for (let i = 0; i < 40; i++)
    t.match(table.object(table.findId(uuidOf(`s${i}`))), {
      name_label: `s${i}`,
    });
  await stop();
});

t.test("the feed retains unread changes for five minutes", async (t) => {
  const pool = createPool("a");
  const { catalog, clock, poll, flush, stop } = await catalogOf(pool);
  const { feedId } = catalog.feed;
  const change = async (name: string) => {
    pool.put("SR", refOf(name), record(name));
    await poll();
    await flush();
  };
  await change("s1");
  const first = catalog.feed.revision;
  const bytes = catalog.stats.feedBytes;
  clock.advance(4 * 60_000);
  await change("s2");
  t.equal(catalog.feed.since({ feedId, revision: first - 1 }).length, 2);
  clock.advance(2 * 60_000);
  await change("s3");
  t.equal(catalog.feed.since({ feedId, revision: first - 1 }), "resync");
  t.equal(catalog.feed.since({ feedId, revision: first }).length, 2);
  t.equal(catalog.stats.feedBytes, 2 * bytes);
  await stop();
});
