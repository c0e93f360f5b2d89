import t from "tap";
import { clientOf, startPool } from "./client.js";
import { FakeClock, until } from "./fake-clock.js";
import { poolScript, SESSION, type FakeReply } from "./fake-xapi.js";

t.test(
  "a call without an answer within its time limit rejects and closes its connection",
  async (t) => {
    const clock = new FakeClock();
    const pool = await startPool(
      t,
      poolScript(({ method }) =>
        method === "VM.get_all" ? { silent: true } : undefined,
      ),
    );
    const xapi = clientOf(t, pool, { clock });
    await xapi.connect();
    const call = xapi.call("VM.get_all", [], { timeoutMs: 700 });
    await until(() => pool.methods.includes("VM.get_all"));
    const { socket } = pool.calls.at(-1)!;
    clock.advance(700);
    await t.rejects(call, {
      code: "CALL_TIMEOUT",
      data: { method: "VM.get_all", ms: 700 },
    });
    await until(() => socket.destroyed);
    t.match(xapi.state, { name: "connected" });
  },
);

t.test("a call rejects when its signal is aborted", async (t) => {
  const pool = await startPool(
    t,
    poolScript(({ method }) =>
      method === "VM.get_all" ? { silent: true } : undefined,
    ),
  );
  const xapi = clientOf(t, pool);
  await xapi.connect();
  const caller = new AbortController();
  const call = xapi.call("VM.get_all", [], { signal: caller.signal });
  await until(() => pool.methods.includes("VM.get_all"));
  caller.abort();
  await t.rejects(call, { code: "ABORTED" });
});

t.test(
  "concurrent calls are limited; calls of users run before bulk loads",
  async (t) => {
    const waiting: (() => void)[] = [];
    const order: unknown[] = [];
    const pool = await startPool(
      t,
      poolScript(({ method, params }) => {
        if (method !== "X.get_y") return undefined;
        order.push(params[1]);
        return new Promise<FakeReply>((resolve) =>
          waiting.push(() => resolve({ value: 1 })),
        );
      }),
    );
    const xapi = clientOf(t, pool, { maxConcurrentCalls: 2 });
    await xapi.connect();
    // The client requests the addresses of the members by itself.
    await until(() => pool.methods.includes("host.get_all_records"));
    await xapi.call("pool.get_all_records");
    const calls = [
      xapi.call("X.get_y", ["bulk 1"], { priority: "bulk" }),
      xapi.call("X.get_y", ["bulk 2"], { priority: "bulk" }),
      xapi.call("X.get_y", ["user 1"]),
      xapi.call("X.get_y", ["user 2"]),
      xapi.call("X.get_y", ["event"], { priority: "event" }),
    ];
    await until(() => order.length === 2);
    t.same(
      order.sort(),
      ["bulk 1", "user 1"],
      "the last place is never a load's",
    );
    for (let done = 0; done < 5; done++) {
      await until(() => waiting.length > 0);
      t.ok(waiting.length <= 2);
      waiting.shift()!();
    }
    await Promise.all(calls);
    t.same(order.slice(2, 4), ["user 2", "event"]);
  },
);

t.test("a full queue rejects calls", async (t) => {
  const pool = await startPool(
    t,
    poolScript(({ method }) =>
      method === "X.get_y" ? { silent: true } : undefined,
    ),
  );
  const xapi = clientOf(t, pool, { maxConcurrentCalls: 1, maxQueuedCalls: 1 });
  await xapi.connect();
  await until(() => pool.methods.includes("host.get_all_records"));
  const calls = Array.from({ length: 4 }, () => xapi.call("X.get_y"));
  const outcomes = Promise.allSettled(calls);
  await t.rejects(Promise.race(calls), { code: "QUEUE_FULL" });
  await xapi.disconnect();
  await outcomes;
});

t.test(
  "a call that begins before a disconnection is not sent after it",
  async (t) => {
    const pool = await startPool(t);
    const xapi = clientOf(t, pool);
    await xapi.connect();
    const call = t.rejects(xapi.call("VM.get_all"), { code: "CLOSED" });
    await Promise.all([call, xapi.disconnect()]);
    t.notOk(pool.methods.includes("VM.get_all"));
  },
);

t.test("requests above the size limits of XAPI are not sent", async (t) => {
  const pool = await startPool(
    t,
    poolScript(({ method }) =>
      method === "VM.set_name_description" ? { value: "" } : undefined,
    ),
  );
  const xapi = clientOf(t, pool);
  await xapi.connect();
  const sent = pool.calls.length;
  await t.rejects(xapi.call("VM.set_name_description", ["x".repeat(307_200)]), {
    code: "REQUEST_TOO_LARGE",
    data: { limit: 307_200 },
  });
  await t.rejects(
    xapi.getStream({ path: "/export", query: { q: "x".repeat(1000) } }),
    { code: "REQUEST_HEADER_TOO_LARGE", data: { limit: 1006 } },
  );
  t.notOk(pool.methods.slice(sent).includes("VM.set_name_description"));
  const fits =
    307_200 -
    Buffer.byteLength(
      JSON.stringify({
        jsonrpc: "2.0",
        id: 0,
        method: "VM.set_name_description",
        params: [SESSION, ""],
      }),
    );
  t.equal(
    await xapi.call("VM.set_name_description", ["x".repeat(fits)]),
    "",
    "one byte less is",
  );
});
