import t from "tap";
import { clientOf, keepingLogger, startPool } from "./client.js";
import { answer, eventScript, follow, tokenOf } from "./event-script.js";
import { FakeClock, until } from "./fake-clock.js";
import {
  httpAnswer,
  poolScript,
  SESSION,
  type FakeReply,
} from "./fake-xapi.js";
import { readBatch } from "./read-batch.js";

t.test(
  "each answer is one item with batches, token and counts; the call has filters and token",
  async (t) => {
    const clock = new FakeClock();
    const pool = await startPool(
      t,
      eventScript([answer(101, { vm: 2, vm_metrics: 3 }, ["a", "b"])]),
    );
    const xapi = clientOf(t, pool, { clock, eventTimeoutMs: 30_000 });
    await xapi.connect();
    const { items, ended } = follow(
      xapi.events({ classes: ["VM", "host/OpaqueRef:1"], from: tokenOf(100) }),
    );
    await until(() => items.length === 1);
    const [item] = items;
    if (item?.kind !== "changes") return t.fail("no changes");
    t.same(
      item.batches.flatMap(readBatch).map(({ ref }) => ref),
      ["a", "b"],
    );
    t.same(
      [...item.validRefCounts],
      [
        ["VM", 2],
        ["VM_metrics", 3],
      ],
    );
    t.equal(item.token, tokenOf(101));
    t.same(pool.calls.find(({ method }) => method === "event.from")?.params, [
      SESSION,
      ["VM", "host/OpaqueRef:1"],
      tokenOf(100),
      30,
    ]);
    await xapi.disconnect();
    await ended;
    t.equal(items.length, 1, "disconnecting ends it without a word");
  },
);

t.test(
  "the next call starts throttleMs after the previous answer began, so that XAPI coalesces",
  async (t) => {
    const clock = new FakeClock();
    const pool = await startPool(
      t,
      eventScript([answer(101), answer(102), answer(103)]),
    );
    const xapi = clientOf(t, pool, { clock, throttleMs: 400 });
    await xapi.connect();
    const polls = () =>
      pool.methods.filter((method) => method === "event.from").length;
    const { items } = follow(xapi.events({ from: tokenOf(100) }));
    await until(() => items.length === 1 && clock.pending.includes(400));
    clock.advance(399);
    t.equal(polls(), 1);
    clock.advance(1);
    await until(() => items.length === 2);
    t.equal(polls(), 2);
  },
);

t.test("a slow consumer is not paused in addition", async (t) => {
  const clock = new FakeClock();
  const pool = await startPool(t, eventScript([answer(101), answer(102)]));
  const xapi = clientOf(t, pool, { clock, throttleMs: 400 });
  await xapi.connect();
  const events = xapi.events({ from: tokenOf(100) })[Symbol.asyncIterator]();
  await events.next();
  clock.advance(400);
  t.match((await events.next()).value, {
    kind: "changes",
    token: tokenOf(102),
  });
  await events.return?.();
});

t.test("an idle poll is an item without batches", async (t) => {
  const pool = await startPool(t, eventScript([answer(100)]));
  const xapi = clientOf(t, pool, { clock: new FakeClock() });
  await xapi.connect();
  const { items } = follow(xapi.events({ from: tokenOf(100) }));
  await until(() => items.length === 1);
  t.match(items, [{ kind: "changes", batches: [], token: tokenOf(100) }]);
});

t.test(
  "a connection silent for longer than the poll is closed, and the poll is repeated without loss",
  async (t) => {
    const clock = new FakeClock();
    const pool = await startPool(
      t,
      eventScript([{ silent: true }, answer(101)]),
    );
    const xapi = clientOf(t, pool, {
      clock,
      eventTimeoutMs: 30_000,
      eventGraceMs: 5_000,
      random: () => 0.5,
    });
    await xapi.connect();
    const { items } = follow(xapi.events({ from: tokenOf(100) }));
    await until(() => pool.methods.includes("event.from"));
    const { socket } = pool.calls.find(
      ({ method }) => method === "event.from",
    )!;
    clock.advance(34_999);
    t.notOk(socket.destroyed);
    clock.advance(1);
    await until(() => socket.destroyed && clock.pending.includes(250));
    clock.advance(250);
    await until(() => items.length === 2);
    t.match(items, [
      { kind: "silent" },
      { kind: "changes", token: tokenOf(101) },
    ]);
    t.equal(xapi.counters.logins, 1);
  },
);

t.test(
  "after a closed connection a valid session continues with the same token",
  async (t) => {
    const pool = await startPool(t, eventScript([{ cut: true }, answer(101)]));
    const xapi = clientOf(t, pool);
    await xapi.connect();
    const { items } = follow(xapi.events({ from: tokenOf(100) }));
    await until(() => items.length === 1);
    t.match(items, [{ kind: "changes", token: tokenOf(101) }]);
    const asked = pool.calls
      .filter(({ method }) => method === "event.from")
      .map(({ params }) => params[2]);
    t.same(asked.slice(0, 2), [tokenOf(100), tokenOf(100)]);
  },
);

t.test(
  "after a failure the first poll does not block, the following ones do",
  async (t) => {
    const pool = await startPool(
      t,
      eventScript([{ cut: true }, answer(100), answer(101)]),
    );
    const xapi = clientOf(t, pool, { eventTimeoutMs: 30_000, throttleMs: 0 });
    await xapi.connect();
    const { items } = follow(xapi.events({ from: tokenOf(100) }));
    await until(() => items.length === 2);
    const waits = pool.calls
      .filter(({ method }) => method === "event.from")
      .map(({ params }) => params[3]);
    t.same(waits.slice(0, 3), [30, 0, 30]);
  },
);

t.test(
  "an invalid answer is requested again; repeated invalid answers end the stream",
  async (t) => {
    const bad: FakeReply = {
      raw: httpAnswer('{"jsonrpc":"2.0","result":{"events":[{'),
      keep: true,
    };
    const clock = new FakeClock();
    const pool = await startPool(
      t,
      eventScript([bad, answer(101), bad, bad, bad]),
    );
    const xapi = clientOf(t, pool, {
      clock,
      throttleMs: 0,
      random: () => 0.5,
      logger: keepingLogger(),
    });
    await xapi.connect();
    const { items, ended } = follow(xapi.events({ from: tokenOf(100) }));
    const hurry = setInterval(() => {
      clock.endPauses(2_000);
    }, 1);
    await ended;
    clearInterval(hurry);
    t.match(items, [
      { kind: "changes", token: tokenOf(101) },
      { kind: "lost", reason: "events-lost" },
    ]);
  },
);

t.test(
  "an error that no retry can cure is thrown to the consumer",
  async (t) => {
    const pool = await startPool(
      t,
      eventScript([{ error: ["RBAC_PERMISSION_DENIED", "event.from", "no"] }]),
    );
    const xapi = clientOf(t, pool);
    await xapi.connect();
    const { ended } = follow(xapi.events());
    await t.rejects(ended, { code: "RBAC_PERMISSION_DENIED" });
  },
);

t.test("aborting ends the stream and closes its connection", async (t) => {
  const pool = await startPool(t, eventScript([]));
  const xapi = clientOf(t, pool);
  await xapi.connect();
  const consumer = new AbortController();
  const { items, ended } = follow(xapi.events({ signal: consumer.signal }));
  await until(() => pool.methods.includes("event.from"));
  const { socket } = pool.calls.find(({ method }) => method === "event.from")!;
  consumer.abort();
  await ended;
  await until(() => socket.destroyed);
  t.same(items, []);
});

t.test(
  "without event.inject the token comes from event.from on the pool class",
  async (t) => {
    const pool = await startPool(
      t,
      eventScript([answer(77)], ({ method }) =>
        method === "event.inject"
          ? { error: ["MESSAGE_METHOD_UNKNOWN", method] }
          : undefined,
      ),
    );
    const xapi = clientOf(t, pool);
    await xapi.connect();
    t.equal(await xapi.injectToken(), tokenOf(77));
    t.same(pool.calls.at(-1)?.params, [SESSION, ["pool"], "", 0]);
  },
);

t.test(
  "only classes that the pool lists and that have events are listable",
  async (t) => {
    const names = [
      "VM.get_all_records",
      "host.get_all_records",
      "secret.get_all_records",
      "VM.start",
      "new_class.get_all_records",
    ];
    const pool = await startPool(
      t,
      poolScript(({ method }) =>
        method === "system.listMethods" ? { value: names } : undefined,
      ),
    );
    const xapi = clientOf(t, pool);
    await xapi.connect();
    t.same([...(await xapi.listableClasses())].sort(), ["VM", "host"]);
    t.same(
      pool.calls.find(({ method }) => method === "system.listMethods")?.params,
      [],
      "it takes no session",
    );
  },
);

t.test(
  "a listing too large for JSON (32-bit dom0, 16 MB) is read as XML",
  async (t) => {
    const pool = await startPool(
      t,
      poolScript(({ method, path }) =>
        method !== "VM.get_all_records"
          ? undefined
          : path === "/jsonrpc"
            ? { raw: httpAnswer("<html/>", "text/html", "500 Internal Error") }
            : { value: { "OpaqueRef:1": { uuid: "u", VCPUs_max: 3 } } },
      ),
    );
    const xapi = clientOf(t, pool, { transport: "auto" });
    await xapi.connect();
    const records: unknown[] = [];
    await xapi.listRecords("vm", {
      onBatch: (batch) => records.push(...readBatch(batch)),
    });
    t.match(records, [
      { className: "VM", ref: "OpaqueRef:1", record: { VCPUs_max: 3 } },
    ]);
  },
);
