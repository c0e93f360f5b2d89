import t from "tap";
import { XoError, type RecordBatch } from "@xo-server/model";
import { createParserPool } from "../src/index.js";
import { feed } from "./support/feed.js";
import { records, answer, until } from "./answer-bytes.js";

t.test("small answers are decoded in place, others by a worker", async (t) => {
  const pool = createParserPool({ inlineBelowBytes: 1000, minThreads: 0 });
  t.teardown(() => pool.close());
  const small = records(3);
  await feed(pool, small, { contentLength: small.length });
  await feed(pool, small);
  t.match(pool.stats(), { tasksInPlace: 2, tasksByWorkers: 0, threads: 0 });
  const large = records(100);
  await feed(pool, large, { contentLength: large.length });
  t.match(
    pool.stats(),
    { tasksInPlace: 3, tasksByWorkers: 0, threads: 1, isUp: false },
    "until a thread is up, which takes longer than the work",
  );
  await until(() => pool.stats().isUp);
  await feed(pool, large, { contentLength: large.length });
  await feed(pool, large);
  t.match(pool.stats(), { tasksInPlace: 3, tasksByWorkers: 2, threads: 1 });
});

t.test("batches are delivered while the body arrives", async (t) => {
  const pool = createParserPool({ place: "worker", segmentBytes: 1000 });
  t.teardown(() => pool.close());
  const batches: RecordBatch[] = [];
  const stream = pool.open(
    {
      encoding: "json-rpc",
      shape: "records",
      className: "VM",
      priority: "bulk",
      lane: "a",
    },
    { onBatch: (batch) => batches.push(batch) },
  );
  const body = records(100);
  const space = stream.space();
  space.set(body.subarray(0, space.length));
  stream.commit(space.length);
  await until(() => batches.length > 0);
  t.ok(batches[0]!.count > 0);
  stream.abort(new XoError("ABORTED", { what: "the test" }));
  await t.rejects(stream.end(), { code: "ABORTED" });
  t.equal(pool.stats().streams, 0);
});

t.test(
  "records that are kept are in shared memory, others are not",
  async (t) => {
    const pool = createParserPool({ place: "worker", segmentBytes: 100_000 });
    t.teardown(() => pool.close());
    const body = records(3000);
    const contents = [];
    for (const isKept of [true, false]) {
      const { batches, records: read } = await feed(pool, body, { isKept });
      t.ok(batches.length > 1);
      const [first] = batches;
      t.equal(first!.buffer instanceof SharedArrayBuffer, isKept);
      contents.push(read);
    }
    t.same(contents[0], contents[1], "both have the same content");
  },
);

t.test(
  "commit returns false when segments queue up, until onDrain",
  async (t) => {
    const pool = createParserPool({ place: "worker", segmentBytes: 1000 });
    t.teardown(() => pool.close());
    let drained = 0;
    let count = 0;
    const stream = pool.open(
      {
        encoding: "json-rpc",
        shape: "records",
        className: "VM",
        priority: "bulk",
        lane: "a",
      },
      { onDrain: () => drained++, onBatch: (batch) => (count += batch.count) },
    );
    const body = records(200);
    const pauses: number[] = [];
    for (let at = 0; at < body.length;) {
      const space = stream.space();
      t.ok(space.length > 0);
      const part = body.subarray(at, at + space.length);
      space.set(part);
      at += part.length;
      if (stream.commit(part.length)) continue;
      pauses.push(at);
      const before = drained;
      await until(() => drained > before);
    }
    await stream.end();
    t.ok(pauses.length > 0);
    t.ok(
      pauses[0]! <= 3000,
      "at most a segment away, one waiting, one filling",
    );
    t.equal(count, 200);
  },
);

t.test("a reader that ignores backpressure loses nothing", async (t) => {
  const pool = createParserPool({ place: "worker", segmentBytes: 500 });
  t.teardown(() => pool.close());
  let count = 0;
  const stream = pool.open(
    {
      encoding: "json-rpc",
      shape: "records",
      className: "VM",
      priority: "bulk",
      lane: "a",
    },
    { onBatch: (batch) => (count += batch.count) },
  );
  const body = records(200);
  for (let at = 0; at < body.length;) {
    const space = stream.space();
    const part = body.subarray(at, at + space.length);
    space.set(part);
    at += part.length;
    stream.commit(part.length);
  }
  t.match(await stream.end(), { outcome: "success" });
  t.equal(count, 200);
});

t.test("bytes written to a space that was replaced are not lost", async (t) => {
  const pool = createParserPool({ place: "worker", segmentBytes: 1000 });
  t.teardown(() => pool.close());
  const body = answer(
    `{"OpaqueRef:1":{"uuid":"${"x".repeat(40_000)}"},"OpaqueRef:2":{"uuid":"y"}}`,
  );
  const rows: number[] = [];
  const stream = pool.open(
    {
      encoding: "json-rpc",
      shape: "records",
      className: "VM",
      priority: "bulk",
      lane: "a",
    },
    { onBatch: (batch) => rows.push(batch.count) },
  );
  for (let at = 0; at < body.length;) {
    const space = stream.space();
    // The socket writes to the space while the result of a worker replaces the segment.
    await new Promise((resolve) => setImmediate(resolve));
    const part = body.subarray(at, at + Math.min(space.length, 300));
    space.set(part);
    at += part.length;
    stream.commit(part.length);
  }
  await stream.end();
  t.equal(
    rows.reduce((sum, rowCount) => sum + rowCount, 0),
    2,
  );
});

t.test(
  "a body over the limit is rejected, with or without Content-Length",
  async (t) => {
    const pool = createParserPool({ maxBodyBytes: 1000 });
    t.teardown(() => pool.close());
    const body = records(100);
    const error = { code: "ANSWER_TOO_LARGE", data: { limit: 1000 } };
    await t.rejects(feed(pool, body, { contentLength: body.length }), error);
    await t.rejects(feed(pool, body), error);
    t.equal(pool.stats().streams, 0);
  },
);

t.test(
  "more bytes than Content-Length are rejected or decoded, never lost silently",
  async (t) => {
    const pool = createParserPool({ place: "main" });
    t.teardown(() => pool.close());
    const body = records(5);
    t.equal((await feed(pool, body, { contentLength: 20 })).records.length, 5);
    await t.rejects(
      feed(pool, Buffer.concat([body, body]), { contentLength: body.length }),
      { code: "BAD_ANSWER" },
    );
  },
);

t.test(
  "an invalid response is reported immediately, and the rest is ignored",
  async (t) => {
    const pool = createParserPool({ place: "main", segmentBytes: 100 });
    t.teardown(() => pool.close());
    const errors: Error[] = [];
    const stream = pool.open(
      {
        encoding: "json-rpc",
        shape: "records",
        className: "VM",
        priority: "bulk",
        lane: "a",
      },
      { onError: (error) => errors.push(error) },
    );
    for (let i = 0; i < 10; i++) {
      const space = stream.space();
      space.fill(0x20).set(Buffer.from("<html>"));
      t.equal(stream.commit(space.length), true);
    }
    t.match(errors, [{ code: "BAD_ANSWER" }]);
    await t.rejects(stream.end(), errors[0]!);
  },
);

t.test("an error of a handler ends its stream", async (t) => {
  const pool = createParserPool({ place: "main" });
  t.teardown(() => pool.close());
  const body = records(3);
  const stream = pool.open(
    {
      encoding: "json-rpc",
      shape: "records",
      className: "VM",
      priority: "bulk",
      lane: "a",
    },
    {
      onBatch() {
        throw new Error("no room");
      },
    },
  );
  stream.space().set(body);
  stream.commit(body.length);
  await t.rejects(stream.end(), { message: "no room" });
});

t.test("a crashed worker fails only its task", async (t) => {
  const pool = createParserPool({
    place: "worker",
    maxThreads: 1,
    maxWorkerHeapMb: 40,
    xml: "xmlrpc",
  });
  t.teardown(() => pool.close());
  const value = `<value>${"x".repeat(60_000_000)}</value>`;
  const bomb = Buffer.from(
    `<?xml version="1.0"?><methodResponse><params><param>${value}</param></params></methodResponse>`,
  );
  const results = await Promise.allSettled([
    feed(pool, bomb, { encoding: "xml-rpc", shape: "value", lane: "bomb" }),
    feed(pool, records(10), { lane: "other" }),
    feed(pool, answer("1"), {
      shape: "value",
      priority: "call",
      lane: "third",
    }),
  ]);
  t.match(results[0], {
    status: "rejected",
    reason: { code: "PARSER_FAILED" },
  });
  t.match(results.slice(1), [{ status: "fulfilled" }, { status: "fulfilled" }]);
  t.equal((await feed(pool, records(10))).records.length, 10);
});

t.test("a worker that hangs fails only its task", async (t) => {
  const { href } = new URL("./support/hanging-worker.js", import.meta.url);
  const pool = createParserPool({
    place: "worker",
    maxThreads: 1,
    taskTimeoutMs: 500,
    workerModule: href,
  });
  t.teardown(() => pool.close());
  const results = await Promise.allSettled([
    feed(pool, answer('"hang"'), { shape: "value", lane: "hanging" }),
    feed(pool, records(10), { lane: "other" }),
    feed(pool, answer("1"), { shape: "value", lane: "third" }),
  ]);
  t.match(results[0], {
    status: "rejected",
    reason: { code: "PARSER_FAILED", message: /did not answer within 500 ms/ },
  });
  t.match(results.slice(1), [{ status: "fulfilled" }, { status: "fulfilled" }]);
  t.equal((await feed(pool, records(10))).records.length, 10);
});

t.test("a token or counts of unusual size are not an answer", async (t) => {
  const pool = createParserPool({ place: "main" });
  t.teardown(() => pool.close());
  const read = (token: string, counts: object) =>
    feed(
      pool,
      answer(JSON.stringify({ events: [], valid_ref_counts: counts, token })),
      { shape: "events", priority: "event" },
    );
  const names = Array.from({ length: 10_000 }, (_, i): [string, number] => [
    `class${i}`,
    i,
  ]);
  await t.rejects(read("1,0", Object.fromEntries(names)), {
    code: "BAD_ANSWER",
    data: { reason: /^valid_ref_counts has \d+ characters/ },
  });
  await t.rejects(read("1".repeat(2_000), {}), {
    code: "BAD_ANSWER",
    data: { reason: /^the token has 2002 characters/ },
  });
  const some = Object.fromEntries(names.slice(0, 500));
  await t.resolves(read("00000000000000000001,0", some));
});

t.test(
  "integers in a value of a named class are numbers, also in XML-RPC",
  async (t) => {
    const pool = createParserPool({ place: "main" });
    t.teardown(() => pool.close());
    const body = Buffer.from(
      '<?xml version="1.0"?><methodResponse><params><param><value><struct><member><name>Status</name><value>Success</value></member><member><name>Value</name><value><struct><member><name>VCPUs_max</name><value>4</value></member><member><name>name_label</name><value>4</value></member></struct></value></member></struct></value></param></params></methodResponse>',
    );
    const { answer: decoded } = await feed(pool, body, {
      encoding: "xml-rpc",
      shape: "value",
      className: "VM",
    });
    t.match(decoded, { value: { VCPUs_max: 4, name_label: "4" } });
  },
);
