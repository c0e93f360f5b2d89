import { XapiError, XoError } from "@xo-server/model";
import t from "tap";
import { Type } from "typebox";
import { createJsonRpcHandler } from "../src/api/json-rpc/json-rpc.js";
import {
  defineOperation,
  type CallContext,
  type Permission,
} from "../src/operations/operation.js";
import { JsonStream, RawJson } from "../src/encoding/raw-json.js";
import { FakeClient } from "./fake-client.js";
import { textOf } from "./text-of.js";
import { createTestDispatcher } from "./test-dispatcher.js";

const errors: string[] = [];
const logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: (message: string) => void errors.push(message),
};

const operation = (
  name: string,
  handler: () => unknown,
  permission: Permission = "viewer",
) =>
  defineOperation({
    name,
    summary: name,
    params: Type.Object({}),
    result: Type.Unknown(),
    permission,
    handler,
  });

async function* halves() {
  yield Buffer.from('{"a":');
  yield Buffer.from('"é"}');
}

/** What `test.fail` throws. */
let failure = new Error();

const handler = createJsonRpcHandler(
  createTestDispatcher(
    [
      defineOperation({
        name: "test.add",
        summary: "Adds.",
        params: Type.Object(
          { a: Type.Number(), b: Type.Optional(Type.Number({ default: 1 })) },
          { additionalProperties: false },
        ),
        result: Type.Number(),
        permission: "viewer",
        handler: ({ a, b = 1 }) => a + b,
      }),
      operation("test.nothing", () => undefined),
      operation("test.raw", () => new RawJson(Buffer.from('{"a":"é"}'))),
      operation("test.stream", () => new JsonStream(halves())),
      operation("test.change", () => "changed", "operator"),
      operation("test.missing", () => {
        throw new XoError("NO_SUCH_OBJECT", { type: "VM", id: "x" });
      }),
      operation("test.fail", () => {
        throw failure;
      }),
      operation("test.bug", () => {
        throw new TypeError("hunter2 is not a function");
      }),
    ],
    { logger },
  ),
  { idOf: (ref) => (ref === "OpaqueRef:1" ? "uuid-1" : undefined) },
);

const context: CallContext = {
  permission: "viewer",
  client: new FakeClient(),
  address: "192.0.2.7",
};

async function send(message: unknown): Promise<unknown> {
  const text = typeof message === "string" ? message : JSON.stringify(message);
  const answer = await handler.handle(text, context);
  return answer === undefined ? undefined : JSON.parse(await textOf(answer));
}

const call = (method: string, params?: unknown, id: unknown = 1) =>
  send({ jsonrpc: "2.0", id, method, params });

t.test("a call is answered with its id, 0 and texts included", async (t) => {
  t.same(await call("test.add", { a: 2, b: 3 }, 0), {
    jsonrpc: "2.0",
    id: 0,
    result: 5,
  });
  t.match(await call("test.add", { a: 2 }, "x"), { id: "x", result: 3 });
});

t.test("a method without a result answers true", async (t) => {
  t.match(await call("test.nothing"), { result: true });
});

t.test("a result that is JSON already is passed on as it is", async (t) => {
  const raw = { jsonrpc: "2.0", id: "r", method: "test.raw" };
  const result = { jsonrpc: "2.0", id: "r", result: { a: "é" } };
  t.same(await send(raw), result);
  t.same(await send([raw]), [result]);
  t.match(await send([raw, { ...raw, method: "test.nothing" }]), [
    result,
    { id: "r", result: true },
  ]);
  const answer = await handler.handle(JSON.stringify(raw), context);
  t.ok(Buffer.isBuffer(answer));
});

t.test("a result created while it is sent is part of one frame", async (t) => {
  const stream = { jsonrpc: "2.0", id: 7, method: "test.stream" };
  const result = { jsonrpc: "2.0", id: 7, result: { a: "é" } };
  t.same(await send(stream), result);
  t.same(await send([stream]), [result]);
  t.match(await send([stream, { ...stream, method: "test.raw" }, stream]), [
    result,
    result,
    result,
  ]);
});

t.test("a null id means no object", async (t) => {
  t.equal(await call("test.nothing", {}, null), undefined);
  t.equal(await call("test.unknown", {}, null), undefined);
});

t.test("a method without parameters accepts any parameters", async (t) => {
  for (const params of [undefined, {}, [], null, { dummy: "dummy" }])
    t.match(await call("test.nothing", params), { result: true });
});

t.test("parameters that do not fit get code 10 and Ajv's errors", async (t) => {
  t.match(await call("test.add", { a: "2" }), {
    error: {
      code: 10,
      message: "invalid parameters",
      data: { errors: [{ instancePath: "/a", message: "must be number" }] },
    },
  });
  t.match(await call("test.add", { a: 1, c: 1 }), { error: { code: 10 } });
  t.match(await call("test.add", [1, 2]), { error: { code: 10 } });
});

t.test("a name with a question mark is read, or dropped", async (t) => {
  t.match(await call("test.add", { a: 1, "b?": 5, "c?": 6 }), { result: 6 });
});

t.test("a notification is not answered, whatever becomes of it", async (t) => {
  for (const method of ["test.add", "test.bug", "test.unknown"])
    t.equal(await send({ jsonrpc: "2.0", method }), undefined);
});

t.test("a batch is answered with a list", async (t) => {
  const one = { jsonrpc: "2.0", id: 1, method: "test.nothing" };
  t.match(await send([one]), [{ id: 1, result: true }]);
  t.match(
    await send([one, { ...one, id: undefined }, null, { ...one, id: 2 }]),
    [{ id: 1 }, { id: null, error: { code: -32600 } }, { id: 2 }],
  );
  t.equal(await send([{ ...one, id: undefined }]), undefined);
  t.match(await send([]), { error: { code: -32600 } });
  t.match(await send(new Array(101).fill(one)), { error: { code: -32600 } });
});

t.test("an invalid request is reported", async (t) => {
  t.match(await send("{"), { id: null, error: { code: -32700 } });
  for (const message of ["null", "1", '"x"', "{}", '{"method":"test.add"}'])
    t.match(await send(message), { error: { code: -32600 } }, message);
});

t.test("errors are those of the table", async (t) => {
  t.match(await call("test.unknown"), {
    error: {
      code: -32601,
      message: "method not found: test.unknown",
      data: "test.unknown",
    },
  });
  t.match(await call("test.change"), {
    error: { code: 2, data: { code: "UNAUTHORIZED", permission: "operator" } },
  });
  t.match(await call("test.missing"), {
    error: { code: 1, message: "no such VM x", data: { id: "x", type: "VM" } },
  });
});

t.test("errors do not repeat megabytes that the client sent", async (t) => {
  const long = "x".repeat(3_000_000);
  const answers = [
    await call(long),
    await call("test.add", { a: [long], [long]: 1 }),
    await call("test.add", { a: long }),
  ];
  for (const answer of answers) {
    t.match(answer, { error: { code: Number } });
    t.ok(JSON.stringify(answer).length < 20_000);
  }
});

t.test("names of Object.prototype are not methods", async (t) => {
  for (const name of ["constructor", "__proto__", "toString"])
    t.match(await call(name), { error: { code: -32601 } });
});

const ref = "OpaqueRef:1";
const objectId = "uuid-1";
const xapiErrors: [XapiError, number, string, object][] = [
  [
    new XapiError("HOST_OFFLINE", [ref]),
    18,
    "the host is offline",
    { objectId },
  ],
  [new XapiError("NO_HOSTS_AVAILABLE"), 7, "no hosts available", {}],
  [
    new XapiError("NOT_SUPPORTED_DURING_UPGRADE"),
    15,
    "the pool is being upgraded",
    {},
  ],
  [
    new XapiError("OPERATION_BLOCKED", [ref, "because"]),
    19,
    "operation blocked",
    { objectId, code: "because" },
  ],
  [
    new XapiError("PIF_VLAN_EXISTS", [ref]),
    16,
    "PIF already exists",
    { objectId, objectType: "PIF" },
  ],
  [
    new XapiError("SESSION_AUTHENTICATION_FAILED", ["root"]),
    8,
    "authentication failed",
    {},
  ],
  [
    new XapiError("VDI_IN_USE", [ref, "destroy"]),
    17,
    "VDI in use (destroy): shut down the VM that uses it, or detach the disk from it",
    { objectId, operation: "destroy" },
  ],
  [
    new XapiError("VM_BAD_POWER_STATE", [ref, "halted", "running"]),
    13,
    "VM state is running but should be halted",
    { objectId, expected: "halted", actual: "running" },
  ],
  [
    new XapiError("VM_IS_TEMPLATE", ["OpaqueRef:gone"]),
    12,
    "VM is a template",
    { objectId: "OpaqueRef:gone" },
  ],
  [
    new XapiError("VM_LACKS_FEATURE", [ref, "suspend"]),
    14,
    "VM lacks feature suspend",
    { objectId },
  ],
  [
    new XapiError("VM_LACKS_FEATURE", [ref]),
    14,
    "VM lacks feature guest tools",
    { objectId, feature: "guest tools" },
  ],
  [
    new XapiError("VM_LACKS_FEATURE_SHUTDOWN", [ref]),
    14,
    "VM lacks feature shutdown",
    { feature: "shutdown" },
  ],
  [
    new XapiError("VM_MISSING_PV_DRIVERS", [ref]),
    11,
    "missing PV drivers",
    { objectId },
  ],
  [
    new XapiError("SR_FULL", ["1", "2"]),
    -32000,
    "SR_FULL(1, 2)",
    { code: "SR_FULL", params: ["1", "2"] },
  ],
];

for (const [error, code, message, data] of xapiErrors)
  t.test(`XAPI's ${error.code} gets code ${code}`, async (t) => {
    failure = error;
    t.match(await call("test.fail"), { error: { code, message, data } });
  });

t.test("a pool that cannot be reached gets code 9", async (t) => {
  for (const code of [
    "UNREACHABLE",
    "NOT_CONNECTED",
    "NO_CANDIDATE",
  ] as const) {
    failure = new XoError(code);
    t.match(await call("test.fail"), { error: { code: 9 } });
  }
});

t.test(
  "an unexpected error is logged, and not sent to the client",
  async (t) => {
    errors.length = 0;
    const answer = await call("test.bug");
    t.match(answer, { error: { code: -32603, data: { code: "INTERNAL" } } });
    t.notMatch(JSON.stringify(answer), "hunter2");
    t.same(errors, ["test.bug failed"]);
  },
);
