import { inspect } from "node:util";
import t from "tap";
import { XapiError, XoError } from "@xo-server/model";
import type { TransportName } from "../src/index.js";
import { clientOf, keepingLogger, startPool } from "./client.js";
import { FakeClock, until } from "./fake-clock.js";
import { httpAnswer, poolScript, type FakeReply } from "./fake-xapi.js";
import { json } from "./answer-texts.js";

const xml = (inner: string) =>
  `<?xml version="1.0"?><methodResponse><params><param><value>${inner}</value></param></params></methodResponse>`;
const success = (value: string) =>
  xml(
    `<struct><member><name>Status</name><value>Success</value></member><member><name>Value</name><value>${value}</value></member></struct>`,
  );
const deep = (open: string, close: string, levels = 100_000) =>
  open.repeat(levels) + close.repeat(levels);
const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)));
const http = (body: string | Uint8Array, type: string): FakeReply => ({
  raw: httpAnswer(body, type),
  keep: true,
});
const asJson = (body: string | Uint8Array) => http(body, "application/json");
const asXml = (body: string | Uint8Array) => http(body, "text/xml");

const bomb = `<?xml version="1.0"?><!DOCTYPE b [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>${success("&b;").slice(21)}`;

const cases: [
  TransportName,
  string,
  FakeReply,
  { code: string; reason?: RegExp },
][] = [
  [
    "json-rpc",
    "broken JSON",
    asJson('{"jsonrpc":"2.0","result":[1,'),
    { code: "BAD_ANSWER", reason: /JSON/ },
  ],
  ["json-rpc", "an empty body", asJson(""), { code: "BAD_ANSWER" }],
  ["json-rpc", "no JSON-RPC", asJson("[1,2]"), { code: "BAD_ANSWER" }],
  [
    "json-rpc",
    "neither result nor error",
    asJson("{}"),
    { code: "BAD_ANSWER" },
  ],
  [
    "json-rpc",
    "an error without a code",
    asJson('{"error":{"x":1}}'),
    { code: "BAD_ANSWER" },
  ],
  [
    "json-rpc",
    "100,000 levels of nesting",
    asJson(json(deep("[", "]"))),
    { code: "ANSWER_TOO_DEEP" },
  ],
  [
    "json-rpc",
    "100,000 objects deep",
    asJson(json(`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`)),
    { code: "ANSWER_TOO_DEEP" },
  ],
  [
    "json-rpc",
    "invalid UTF-8",
    asJson(
      bytes('{"jsonrpc":"2.0","result":"', [0xff, 0xfe, 0xc3], '","id":0}'),
    ),
    { code: "BAD_ANSWER", reason: /UTF-8/ },
  ],
  [
    "json-rpc",
    "HTML with status 200",
    http("<html>hello</html>", "text/html"),
    { code: "BAD_ANSWER" },
  ],
  [
    "json-rpc",
    "an HTTP error",
    {
      raw: httpAnswer(
        "<html><h1>HTTP 500</h1>Failure(&quot;x&quot;)</html>",
        "text/html",
        "500 Internal Error",
      ),
    },
    { code: "HTTP_STATUS" },
  ],
  [
    "json-rpc",
    "HTTP 408",
    { raw: httpAnswer("", "text/html", "408 Request Timeout") },
    { code: "HTTP_STATUS" },
  ],
  [
    "json-rpc",
    "HTTP 431 without a length",
    {
      raw: "HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n\r\n",
    },
    { code: "HTTP_STATUS" },
  ],
  [
    "json-rpc",
    "a truncated body",
    { raw: httpAnswer(json("1")).subarray(0, -5) },
    { code: "CONNECTION_LOST", reason: /closed after/ },
  ],
  [
    "json-rpc",
    "a cut head",
    { raw: "HTTP/1.1 200" },
    { code: "CONNECTION_LOST" },
  ],
  [
    "json-rpc",
    "no HTTP at all",
    { raw: "SSH-2.0-OpenSSH_9.2\r\n\r\n" },
    { code: "BAD_ANSWER", reason: /HTTP/ },
  ],
  [
    "json-rpc",
    "a negative Content-Length",
    {
      raw: "HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n",
      keep: true,
    },
    { code: "BAD_ANSWER", reason: /HTTP/ },
  ],
  [
    "json-rpc",
    "endless interim answers",
    { raw: "HTTP/1.1 100 Continue\r\n\r\n".repeat(50_000), keep: true },
    { code: "BAD_ANSWER", reason: /interim/ },
  ],
  [
    "json-rpc",
    "more bytes than announced",
    { raw: Buffer.concat([httpAnswer(json("1")), Buffer.from("junk")]) },
    { code: "BAD_ANSWER", reason: /after the end/ },
  ],
  [
    "json-rpc",
    "a body over the limit",
    asJson(json(`"${"x".repeat(70_000)}"`)),
    { code: "ANSWER_TOO_LARGE" },
  ],
  [
    "json-rpc",
    "a body over the limit, its length untold",
    {
      raw: `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n${json(`"${"x".repeat(70_000)}"`)}`,
    },
    { code: "ANSWER_TOO_LARGE" },
  ],
  [
    "xml-rpc",
    "broken XML",
    asXml("<?xml version='1.0'?><methodResponse><params><param>"),
    { code: "BAD_ANSWER" },
  ],
  ["xml-rpc", "no XML", asXml("hello"), { code: "BAD_ANSWER" }],
  [
    "xml-rpc",
    "an entity bomb",
    asXml(bomb),
    { code: "BAD_ANSWER", reason: /DTD/ },
  ],
  [
    "xml-rpc",
    "100,000 levels of nesting",
    asXml(
      success(
        deep("<array><data><value>", "</value></data></array>", 100_000),
      ).slice(0, 60_000),
    ),
    { code: "ANSWER_TOO_DEEP" },
  ],
  [
    "xml-rpc",
    "a boolean that is none",
    asXml(success("<boolean>maybe</boolean>")),
    { code: "BAD_ANSWER", reason: /boolean/ },
  ],
  [
    "xml-rpc",
    "an unknown tag",
    asXml(success("<weird>1</weird>")),
    { code: "BAD_ANSWER" },
  ],
  [
    "xml-rpc",
    "invalid UTF-8",
    asXml(
      bytes(
        success("\u0001").split("\u0001")[0]!,
        [0xff],
        success("\u0001").split("\u0001")[1]!,
      ),
    ),
    { code: "BAD_ANSWER", reason: /UTF-8/ },
  ],
  [
    "xml-rpc",
    "no Value",
    asXml(
      xml(
        "<struct><member><name>Status</name><value>Success</value></member></struct>",
      ),
    ),
    { code: "BAD_ANSWER" },
  ],
];

for (const [transport, what, reply, expected] of cases) {
  t.test(
    "a value may be smaller than a listing: ANSWER_TOO_LARGE without reading the rest",
    async (t) => {
      const big = json(`{"OpaqueRef:1":{"uuid":"${"x".repeat(5_000)}"}}`);
      const pool = await startPool(
        t,
        poolScript(({ method }) =>
          method === "VM.get_all_records"
            ? { raw: httpAnswer(big), keep: true }
            : undefined,
        ),
      );
      const xapi = clientOf(t, pool, {
        maxBodyBytes: 100_000,
        maxValueBytes: 1_000,
      });
      await xapi.connect();
      await t.rejects(xapi.call("VM.get_all_records"), {
        code: "ANSWER_TOO_LARGE",
        data: { limit: 1_000 },
      });
      const { records } = await xapi.listRecords("VM", {
        onBatch: () => undefined,
      });
      t.equal(records, 1);
    },
  );

  t.test(
    `${transport}: ${what}: is a typed error, and the next call works`,
    async (t) => {
      const pool = await startPool(
        t,
        poolScript(({ method }) =>
          method === "VM.get_all" ? reply : undefined,
        ),
      );
      const xapi = clientOf(t, pool, {
        transport,
        maxBodyBytes:
          65_536 +
          (what.includes("deep") || what.includes("nesting") ? 2 ** 24 : 0),
      });
      await xapi.connect();
      const error = await xapi
        .call("VM.get_all", [], { idempotent: false })
        .then(
          () => undefined,
          (reason: unknown) => reason,
        );
      if (!(error instanceof XoError)) return t.fail(inspect(error));
      t.equal(error.code, expected.code);
      if (expected.reason !== undefined)
        t.match(String(error.data["reason"]), expected.reason);
      if (error.code === "BAD_ANSWER")
        t.ok("start" in error.data, "the error has the first bytes");
      pool.answer(
        poolScript(({ method }) =>
          method === "VM.get_all" ? { value: ["fine"] } : undefined,
        ),
      );
      t.same(await xapi.call("VM.get_all"), ["fine"]);
      t.equal(xapi.state.name, "connected");
    },
  );
}

t.test(
  "member names such as __proto__ do not change a prototype",
  async (t) => {
    const members =
      "<struct><member><name>__proto__</name><value><struct><member><name>polluted</name><value>yes</value></member></struct></value></member></struct>";
    for (const [transport, reply] of [
      [
        "json-rpc",
        asJson(
          json(
            '{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}}}',
          ),
        ),
      ],
      ["xml-rpc", asXml(success(members))],
    ] as const) {
      const pool = await startPool(
        t,
        poolScript(({ method }) =>
          method === "VM.get_other_config" ? reply : undefined,
        ),
      );
      const xapi = clientOf(t, pool, { transport });
      await xapi.connect();
      const value = (await xapi.call("VM.get_other_config")) as object;
      t.equal((value as { polluted?: unknown }).polluted, undefined);
      t.equal(({} as { polluted?: unknown }).polluted, undefined);
      t.ok(Object.hasOwn(value, "__proto__"), "it is a member like any other");
    }
  },
);

t.test(
  "errors before dispatch are a bare array with id 0, also with invalid UTF-8",
  async (t) => {
    for (const reply of [
      asJson('{"jsonrpc":"2.0","error":["INVALID_VALUE","x"],"id":0}'),
      asJson(
        bytes(
          '{"jsonrpc":"2.0","error":["INVALID_VALUE","',
          [0xff],
          '"],"id":0}',
        ),
      ),
      asJson('{"result":null,"error":["INVALID_VALUE","x"],"id":7}'),
    ]) {
      const pool = await startPool(
        t,
        poolScript(({ method }) =>
          method === "VM.set_name_label" ? reply : undefined,
        ),
      );
      const xapi = clientOf(t, pool);
      await xapi.connect();
      const error = await xapi
        .call("VM.set_name_label", ["r", "x"])
        .catch((reason: unknown) => reason);
      t.ok(
        error instanceof XapiError &&
          error.code === "INVALID_VALUE" &&
          error.method === "VM.set_name_label",
      );
    }
  },
);

t.test("records and events of the wrong type are rejected", async (t) => {
  const wrong: [string, string][] = [
    ["VM.get_all_records", "[1]"],
    ["VM.get_all_records", '"x"'],
    ["VM.get_all_records", '{"OpaqueRef:1":7}'],
    ["event.from", "[]"],
    ["event.from", '{"events":{},"token":"1,0"}'],
    ["event.from", '{"events":[{"class":"vm"}],"token":"1,0"}'],
    [
      "event.from",
      '{"events":[{"class":"vm","ref":"r","operation":"burn"}],"token":"1,0"}',
    ],
  ];
  for (const [name, result] of wrong) {
    const pool = await startPool(
      t,
      poolScript(({ method }) =>
        method === name ? asJson(json(result)) : undefined,
      ),
    );
    const clock = new FakeClock();
    const logger = keepingLogger();
    const xapi = clientOf(t, pool, { clock, logger });
    await xapi.connect();
    if (name === "VM.get_all_records") {
      await t.rejects(xapi.listRecords("VM", { onBatch: () => undefined }), {
        code: "BAD_ANSWER",
      });
      continue;
    }
    const next = xapi.events({ from: "1,0" })[Symbol.asyncIterator]().next();
    let isDone = false;
    void next.then(() => (isDone = true));
    await until(() => {
      clock.endPauses(2_000);
      return isDone;
    });
    t.match(await next, { value: { kind: "lost", reason: "events-lost" } });
    const warnings = logger.lines.filter(({ level }) => level === "warn");
    t.match(warnings.at(-1)?.message, /event\.from: \d invalid responses/);
  }
});
