import t from "tap";
import type { Decoder } from "../src/index.js";
import { clientOf, startPool } from "./client.js";
import { createReferenceDecoder } from "./reference-decoder/reference-decoder.js";
import { FakeClock, until } from "./fake-clock.js";
import { httpAnswer, poolScript, type FakeReply } from "./fake-xapi.js";

t.test("a stale idle connection is replaced for calls that read", async (t) => {
  const pool = await startPool(
    t,
    poolScript(({ method }) =>
      method === "VM.get_all" ? { value: [] } : undefined,
    ),
  );
  const xapi = clientOf(t, pool, { clock: new FakeClock() });
  await xapi.connect();
  await until(() => pool.methods.includes("host.get_all_records"));
  await xapi.call("VM.get_all");
  const before = pool.connections;
  // The fake closes every connection that is not new instead of answering.
  const old = new Set(pool.sockets);
  pool.answer(
    poolScript(({ method, socket }) =>
      old.has(socket)
        ? { cut: true }
        : method === "VM.get_all"
          ? { value: ["x"] }
          : undefined,
    ),
  );
  t.same(await xapi.call("VM.get_all"), ["x"]);
  t.ok(pool.connections > before);
});

t.test(
  "connections that were closed one after the other while idle are not used",
  async (t) => {
    const waiting: (() => void)[] = [];
    const pool = await startPool(
      t,
      poolScript(({ method }) => {
        if (method === "VM.set_name_label") return { value: "" };
        if (method !== "X.get_y") return undefined;
        return new Promise<FakeReply>((resolve) =>
          waiting.push(() => resolve({ value: 1 })),
        );
      }),
    );
    const xapi = clientOf(t, pool, { clock: new FakeClock() });
    await xapi.connect();
    const calls = [xapi.call("X.get_y"), xapi.call("X.get_y")];
    await until(() => waiting.length === 2);
    for (const answer of waiting) answer();
    await Promise.all(calls);
    for (const socket of pool.sockets) {
      socket.end();
      await until(() => socket.destroyed);
    }
    await xapi.call("VM.set_name_label", ["OpaqueRef:vm", "x"]);
    t.equal(pool.methods.at(-1), "VM.set_name_label");
  },
);

t.test(
  "after an answer that cannot be decoded, no two calls use one connection",
  async (t) => {
    const raw =
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\n}{}{}";
    const pool = await startPool(
      t,
      poolScript(({ method }) => {
        if (method === "VM.set_name_label") return { value: "" };
        return method === "X.set_y" ? { raw, keep: true } : undefined;
      }),
    );
    const xapi = clientOf(t, pool, { clock: new FakeClock() });
    await xapi.connect();
    await until(() => pool.methods.includes("host.get_all_records"));
    await xapi.call("pool.get_all_records");
    await t.rejects(xapi.call("X.set_y"), { code: "BAD_ANSWER" });
    const params = ["OpaqueRef:vm", "x"];
    const set = () => xapi.call("VM.set_name_label", params);
    t.same(await Promise.all([set(), set(), set()]), ["", "", ""]);
  },
);

t.test("connections are reused", async (t) => {
  const pool = await startPool(
    t,
    poolScript(({ method }) =>
      method === "VM.get_all" ? { value: [] } : undefined,
    ),
  );
  const xapi = clientOf(t, pool);
  await xapi.connect();
  for (let i = 0; i < 10; i++) await xapi.call("VM.get_all");
  t.ok(pool.connections <= 2, `${pool.connections} connections`);
});

t.test("a full decoder pauses the connection until onDrain", async (t) => {
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 0,
    result: Array.from({ length: 200_000 }, (_, i) => `item ${i}`),
  });
  const pool = await startPool(
    t,
    poolScript(({ method }) =>
      method === "VM.get_all"
        ? { raw: httpAnswer(body), keep: true }
        : undefined,
    ),
  );
  const reference = createReferenceDecoder();
  let pauses = 0;
  const decoder: Decoder = {
    close: () => reference.close(),
    open(request, handlers) {
      const stream = reference.open(request, handlers);
      let isFull = false;
      return {
        space() {
          if (isFull) t.fail("asked for space while it is full");
          return stream.space();
        },
        commit(length) {
          stream.commit(length);
          if (pauses++ % 3 !== 0) return true;
          isFull = true;
          setImmediate(() => {
            isFull = false;
            handlers.onDrain?.();
          });
          return false;
        },
        end: () => stream.end(),
        abort: (reason) => {
          stream.abort(reason);
        },
      };
    },
  };
  const xapi = clientOf(t, pool, { decoder });
  await xapi.connect();
  t.equal(((await xapi.call("VM.get_all")) as string[]).at(-1), "item 199999");
  t.ok(pauses > 3);
});

t.test(
  "a request that meets the end of an idle connection (408) is sent again, once",
  async (t) => {
    let isLate = true;
    const pool = await startPool(
      t,
      poolScript(({ method }) => {
        if (method !== "VM.start") return undefined;
        if (!isLate) return { value: "" };
        isLate = false;
        const page = "<h1>HTTP 408 request timeout</h1>";
        return { raw: httpAnswer(page, "text/html", "408 Request Timeout") };
      }),
    );
    const xapi = clientOf(t, pool);
    await xapi.connect();
    await xapi.call("pool.get_all_records");
    let sent = 0;
    const beforeSend = () => void sent++;
    const params = ["OpaqueRef:vm", false, false];
    t.equal(await xapi.call("VM.start", params, { beforeSend }), "");
    t.equal(sent, 2);
  },
);
