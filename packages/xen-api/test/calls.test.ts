import { inspect } from "node:util";
import t from "tap";
import type { Decoder } from "../src/index.js";
import {
  clientOf,
  createClient,
  keepingLogger,
  PASSWORD,
  startPool,
} from "./client.js";
import { createReferenceDecoder } from "./reference-decoder/reference-decoder.js";
import { FakeClock, until } from "./fake-clock.js";
import {
  httpAnswer,
  poolScript,
  SESSION,
  type FakeReply,
} from "./fake-xapi.js";

const LARGE = 2 ** 60;

t.test("a call returns the same value on every transport", async (t) => {
  const values: Record<string, unknown> = {
    "VM.get_VCPUs_max": 4,
    "VM.get_name_label": "42",
    "VM.get_is_a_template": true,
    "VM.get_tags": ["1", "2"],
    "VM.get_other_config": { n: "1" },
    "VM_metrics.get_VCPUs_number": 8,
    "host.compute_free_memory": 17_179_869_184,
    "task.get_progress": 0.25,
    "VM.get_record": {
      uuid: "u",
      VCPUs_max: 2,
      memory_target: 4_294_967_296,
      platform: { cores: "2" },
      name_label: "7",
    },
  };
  for (const transport of ["json-rpc", "json-in-xml", "xml-rpc"] as const) {
    const pool = await startPool(
      t,
      poolScript(({ method }) =>
        method in values ? { value: values[method] } : undefined,
      ),
    );
    const xapi = clientOf(t, pool, { transport });
    await xapi.connect();
    for (const [method, value] of Object.entries(values))
      t.same(await xapi.call(method), value, `${method} on ${transport}`);
  }
});

t.test("integers above 2^53 keep all digits in both directions", async (t) => {
  for (const transport of ["json-rpc", "xml-rpc"] as const) {
    const pool = await startPool(
      t,
      poolScript(({ method, path }) => {
        if (method === "VM.set_memory_limits") return { value: "" };
        if (method !== "VDI.get_virtual_size") return undefined;
        const text = "9223372036854775807";
        return path === "/jsonrpc"
          ? {
              raw: httpAnswer(`{"jsonrpc":"2.0","result":${text},"id":0}`),
              keep: true,
            }
          : { value: text };
      }),
    );
    const xapi = clientOf(t, pool, { transport });
    await xapi.connect();
    t.equal(
      await xapi.call("VDI.get_virtual_size", ["OpaqueRef:1"]),
      9223372036854775807n,
    );
    await xapi.call("VM.set_memory_limits", ["OpaqueRef:1", BigInt(LARGE)]);
    t.match(
      pool.calls.at(-1)?.params.at(-1),
      String(BigInt(LARGE)),
      "as digits, which XAPI takes for an integer",
    );
  }
});

t.test("unquoted NaN and Infinity are parsed as numbers", async (t) => {
  const pool = await startPool(
    t,
    poolScript(({ method }) =>
      method === "X.get_y"
        ? {
            raw: httpAnswer(
              '{"jsonrpc":"2.0","result":[NaN,Infinity,-Infinity,4.0],"id":0}',
            ),
            keep: true,
          }
        : undefined,
    ),
  );
  const xapi = clientOf(t, pool);
  await xapi.connect();
  t.same(await xapi.call("X.get_y"), [NaN, Infinity, -Infinity, 4]);
});

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

t.test("read-only mode allows only calls that read", async (t) => {
  const pool = await startPool(
    t,
    poolScript(({ method }) =>
      /^VM\.|^host\./.test(method) ? { value: 1 } : undefined,
    ),
  );
  const xapi = clientOf(t, pool, { readOnly: true });
  await xapi.connect();
  for (const method of [
    "VM.get_record",
    "VM.get_all_records_where",
    "VM.assert_can_boot_here",
    "host.compute_free_memory",
    "event.get_current_id",
    "VM.get_something_new",
  ])
    await xapi.call(method).catch((error: unknown) => {
      t.not((error as { code: string }).code, "READ_ONLY", method);
    });
  for (const method of [
    "VM.start",
    "VM.set_name_label",
    "VM.destroy",
    "VM.add_tags",
    "host.call_plugin",
    "task.cancel",
    "get",
    "VM.getaway",
    "VM.wait_memory_target_live",
  ])
    await t.rejects(xapi.call(method), { code: "READ_ONLY", data: { method } });
  await t.rejects(xapi.callAsync("VM.start"), { code: "READ_ONLY" });
  t.notOk(pool.methods.some((method) => method.includes("start")));
});

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
  "errors, log lines and the inspected client contain no secret",
  async (t) => {
    const echo = (text: string) =>
      httpAnswer(text, "text/html", "500 Internal Error");
    const replies: Record<string, FakeReply> = {
      "X.get_password": {
        error: ["INTERNAL_ERROR", `bad password ${PASSWORD}`, SESSION],
      },
      "X.get_broken": {
        raw: httpAnswer(`{"result": ${SESSION} ${JSON.stringify(PASSWORD)}`),
      },
      "X.get_page": {
        raw: echo(`<html>${SESSION} ${encodeURIComponent(PASSWORD)}</html>`),
      },
      "X.get_session": { error: ["SESSION_INVALID", SESSION] },
      "X.get_cut": { cut: true },
    };
    const pool = await startPool(
      t,
      poolScript(({ method }) => replies[method]),
    );
    const logger = keepingLogger();
    const xapi = clientOf(t, pool, { logger });
    await xapi.connect();
    const seen: unknown[] = [];
    for (const method of Object.keys(replies))
      await xapi.call(method).catch((error: unknown) => {
        seen.push(error, (error as Error).stack, (error as Error).message);
      });
    pool.answer(() => ({
      raw: httpAnswer(`{"jsonrpc":"2.0","result":"${SESSION}`),
    }));
    const second = createClient({
      hosts: `http://127.0.0.1:${pool.port}`,
      user: "root",
      password: PASSWORD,
      transport: "json-rpc",
      logger,
    });
    second.onState((state) => seen.push(state));
    void second.connect().catch((error: unknown) => seen.push(error));
    await until(() => second.state.name === "backing-off");
    await second.disconnect();
    pool.answer(() => ({
      error: ["INTERNAL_ERROR", `no user with ${PASSWORD}`],
    }));
    const third = clientOf(t, pool, { logger });
    third.onState((state) => seen.push(state));
    void third.connect().catch((error: unknown) => seen.push(error));
    await until(() => third.state.name === "backing-off");
    const all = inspect(
      [seen, logger.lines, xapi, second, JSON.stringify(xapi)],
      { depth: 20, showHidden: true },
    );
    t.ok(seen.length >= 10);
    for (const secret of [
      PASSWORD,
      JSON.stringify(PASSWORD).slice(1, -1),
      encodeURIComponent(PASSWORD),
      SESSION,
    ])
      t.notOk(all.includes(secret), secret);
  },
);

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
