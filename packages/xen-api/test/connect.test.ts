import t from "tap";
import type { Decoder, XapiEvents } from "../src/index.js";
import { clientOf, createClient, startPool } from "./client.js";
import {
  FakeXapi,
  httpAnswer,
  poolScript,
  POOL,
  POOL_UUID,
  SESSION,
  TOKEN,
} from "./fake-xapi.js";
import { readBatch } from "./read-batch.js";
import { createReferenceDecoder } from "./reference-decoder/reference-decoder.js";

const VM = "OpaqueRef:00000000-0000-4000-8000-0000000000f1";

for (const transport of ["json-rpc", "json-in-xml", "xml-rpc"] as const) {
  t.test(
    `${transport}: connects, calls, lists and follows events`,
    async (t) => {
      const vm = {
        uuid: "u1",
        name_label: "one <&> two",
        VCPUs_max: 4,
        is_a_template: false,
        tags: ["a"],
      };
      let polls = 0;
      const pool = await new FakeXapi(
        poolScript(({ method }) => {
          if (method === "VM.get_all_records") return { value: { [VM]: vm } };
          if (method === "VM.get_VCPUs_max") return { value: 4 };
          if (method !== "event.from") return undefined;
          if (polls++ > 0) return { silent: true };
          const event = {
            id: "101",
            timestamp: "0.0",
            class: "vm",
            operation: "mod",
            ref: VM,
            snapshot: vm,
          };
          return {
            value: {
              events: [event],
              valid_ref_counts: { vm: 1 },
              token: TOKEN.replace("100,", "101,"),
            },
          };
        }),
      ).listen();
      t.teardown(() => pool.close());
      const xapi = createClient({
        hosts: `http://127.0.0.1:${pool.port}`,
        user: "root",
        password: "secret",
        transport,
      });
      t.teardown(() => xapi.disconnect());

      await xapi.connect();
      t.match(xapi.state, {
        name: "connected",
        transport,
        pool: { ref: POOL, uuid: POOL_UUID },
        generation: 1,
      });
      t.equal(xapi.label, "root@127.0.0.1");
      t.equal(await xapi.call("VM.get_VCPUs_max", [VM]), 4);

      const listed: unknown[] = [];
      const result = await xapi.listRecords("VM", {
        onBatch: (batch) => listed.push(...readBatch(batch)),
      });
      t.equal(result.records, 1);
      t.same(listed, [{ className: "VM", ref: VM, operation: 0, record: vm }]);

      const token = await xapi.injectToken();
      t.equal(token, TOKEN);
      let first: XapiEvents | undefined;
      for await (const item of xapi.events({ from: token })) {
        first = item;
        break;
      }
      if (first?.kind !== "changes") return t.fail("no changes");
      t.equal(first.token, TOKEN.replace("100,", "101,"));
      t.same([...first.validRefCounts], [["VM", 1]]);
      t.same(first.batches.flatMap(readBatch), [
        { className: "VM", ref: VM, operation: 1, record: vm },
      ]);
      const called = pool.calls.find(
        ({ method }) => method === "VM.get_VCPUs_max",
      );
      t.equal(called?.params[0], SESSION, "the session ends first");
    },
  );
}

t.test(
  "json-in-xml: hosts of XenServer 6 and 7 respond with one string of JSON",
  async (t) => {
    const quote = (value: unknown) =>
      JSON.stringify(value).replace(/&/g, "&amp;").replace(/</g, "&lt;");
    const old = (value: object) =>
      httpAnswer(
        `<?xml version="1.0"?><methodResponse><params><param><value>${quote(value)}</value></param></params></methodResponse>`,
        "text/xml",
      );
    const vm = { uuid: "u1", name_label: '"7" <&>', VCPUs_max: 4 };
    const values: Record<string, unknown> = {
      "session.login_with_password": SESSION,
      "pool.get_all_records": { [POOL]: { uuid: POOL_UUID } },
      "host.get_all_records": {},
      "VM.get_all_records": { [VM]: vm },
      "VM.get_name_label": "42",
      "VM.get_VCPUs_max": 4,
    };
    const pool = await new FakeXapi(({ method }) =>
      method in values
        ? { raw: old({ Status: "Success", Value: values[method] }), keep: true }
        : {
            raw: old({
              Status: "Failure",
              ErrorDescription: ["HANDLE_INVALID", "VM", "x"],
            }),
            keep: true,
          },
    ).listen();
    t.teardown(() => pool.close());
    const xapi = createClient({
      hosts: `http://127.0.0.1:${pool.port}`,
      user: "root",
      password: "secret",
      transport: "json-in-xml",
    });
    t.teardown(() => xapi.disconnect());
    await xapi.connect();
    t.equal(await xapi.call("VM.get_name_label", [VM]), "42");
    t.equal(await xapi.call("VM.get_VCPUs_max", [VM]), 4);
    const listed: unknown[] = [];
    await xapi.listRecords("VM", {
      onBatch: (batch) => listed.push(...readBatch(batch)),
    });
    t.same(listed, [{ className: "VM", ref: VM, operation: 0, record: vm }]);
    await t.rejects(xapi.call("VM.start", [VM]), {
      code: "HANDLE_INVALID",
      params: ["VM", "x"],
    });
  },
);

t.test("the decoder receives whether the records are kept", async (t) => {
  const pool = await startPool(
    t,
    poolScript(({ method }) =>
      method === "VM.get_all_records" ? { value: {} } : undefined,
    ),
  );
  const reference = createReferenceDecoder();
  const kept: unknown[] = [];
  const decoder: Decoder = {
    close: () => reference.close(),
    open(request, handlers) {
      if (request.className === "VM") kept.push(request.isKept);
      return reference.open(request, handlers);
    },
  };
  const xapi = clientOf(t, pool, { decoder });
  await xapi.connect();
  const onBatch = () => undefined;
  await xapi.listRecords("VM", { onBatch, isKept: true });
  await xapi.listRecords("VM", { onBatch });
  t.same(kept, [true, undefined]);
});
