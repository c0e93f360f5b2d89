import { inspect } from "node:util";
import t from "tap";
import {
  clientOf,
  createClient,
  keepingLogger,
  PASSWORD,
  startPool,
} from "./client.js";
import { until } from "./fake-clock.js";
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
