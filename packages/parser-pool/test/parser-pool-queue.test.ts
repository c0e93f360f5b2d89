import t from "tap";
import { createParserPool, type ParserPool } from "../src/index.js";
import { feed } from "./support/feed.js";
import { records, answer, until } from "./answer-bytes.js";

t.test("threads are started on demand only where that is set", async (t) => {
  const eager = createParserPool({ place: "worker" });
  const lazy = createParserPool({ place: "worker", startsOnDemand: true });
  t.teardown(() => Promise.all([eager.close(), lazy.close()]));
  t.equal(eager.stats().threads, 1);
  t.equal(lazy.stats().threads, 0);
  void lazy.warmUp();
  t.equal(lazy.stats().threads, 1);
});

t.test(
  "threads are added under load up to the maximum, and end when idle",
  async (t) => {
    const pool = createParserPool({
      place: "worker",
      minThreads: 0,
      maxThreads: 2,
      idleTimeoutMs: 100,
    });
    t.teardown(() => pool.close());
    t.equal(pool.stats().threads, 0);
    let most = 0;
    await Promise.all(
      Array.from({ length: 8 }, async (_, i) => {
        await feed(pool, records(2000), { lane: String(i) });
        most = Math.max(most, pool.stats().threads);
      }),
    );
    t.equal(most, 2);
    await until(() => pool.stats().threads === 0);
    t.equal(
      (await feed(pool, records(2))).records.length,
      2,
      "a new one starts",
    );
  },
);

t.test("tasks beyond the queue limit are rejected", async (t) => {
  const pool = createParserPool({
    place: "worker",
    maxThreads: 1,
    queueLimit: 3,
  });
  t.teardown(() => pool.close());
  const results = await Promise.allSettled(
    Array.from({ length: 10 }, (_, i) =>
      feed(pool, records(1), { lane: String(i) }),
    ),
  );
  const refused = results.filter(({ status }) => status === "rejected");
  t.ok(refused.length > 0 && refused.length < 10);
  t.match(refused[0], { reason: { code: "QUEUE_FULL" } });
});

t.test("an aborted stream is removed from the queue", async (t) => {
  const pool = createParserPool({
    minThreads: 0,
    place: "worker",
    maxThreads: 1,
  });
  t.teardown(() => pool.close());
  const streams = [1, 2, 3].map((i) => open(pool, String(i)));
  t.equal(pool.stats().priorities.bulk.queued, 3);
  streams[1]!.stream.abort(new Error("gone"));
  t.equal(pool.stats().priorities.bulk.queued, 2);
  await t.rejects(streams[1]!.done, { message: "gone" });
  await Promise.all([streams[0]!.done, streams[2]!.done]);
});

t.test("closing fails open streams and ends the threads", async (t) => {
  const pool = createParserPool({ place: "worker" });
  await feed(pool, records(1));
  const { done } = open(pool, "a");
  const closed = t.rejects(done, { code: "CLOSED" });
  await pool.close();
  await closed;
  t.match(pool.stats(), { threads: 0, streams: 0 });
  t.throws(() => open(pool, "b"), { code: "CLOSED" });
});

t.test("waiting and running times are counted by priority", async (t) => {
  const pool = createParserPool({ place: "worker" });
  t.teardown(() => pool.close());
  await feed(pool, answer("1"), { shape: "value", priority: "call" });
  await feed(pool, records(1), { priority: "bulk" });
  const { call, event, bulk } = pool.stats().priorities;
  t.same([call.tasks, event.tasks, bulk.tasks], [1, 0, 1]);
  t.equal(bulk.runMs.count, 1);
  t.ok(bulk.runMs.sumMs > 0 && bulk.runMs.maxMs <= bulk.runMs.sumMs);
  t.equal(
    bulk.waitMs.counts.reduce((sum, count) => sum + count),
    1,
  );
});

t.test("calls overtake queued bulk loads", async (t) => {
  const pool = createParserPool({
    minThreads: 0,
    place: "worker",
    maxThreads: 1,
  });
  t.teardown(() => pool.close());
  const done: string[] = [];
  const note = (name: string) => () => void done.push(name);
  await Promise.all([
    ...[1, 2, 3].map((i) =>
      feed(pool, records(500), { lane: String(i) }).then(note("bulk")),
    ),
    feed(pool, answer("1"), { shape: "value", priority: "call" }).then(
      note("call"),
    ),
    feed(pool, answer('{"events":[],"valid_ref_counts":{},"token":""}'), {
      shape: "events",
      priority: "event",
    }).then(note("event")),
  ]);
  t.same(done, ["call", "event", "bulk", "bulk", "bulk"]);
});

/** A stream whose body is complete. */
function open(pool: ParserPool, lane: string) {
  const body = records(3);
  const stream = pool.open(
    {
      encoding: "json-rpc",
      shape: "records",
      className: "VM",
      priority: "bulk",
      lane,
    },
    {},
  );
  stream.space().set(body);
  stream.commit(body.length);
  return { stream, done: stream.end() };
}
