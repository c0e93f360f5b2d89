import { XapiError, XoError } from "@xo-server/model";
import t from "tap";
import { Type } from "typebox";
import { createDispatcher } from "../src/operations/dispatcher.js";
import { createJsonRpcDoor } from "../src/doors/json-rpc.js";
import {
  defineOperation,
  type CallContext,
  type Permission,
} from "../src/operations/operation.js";
import { RawJson } from "../src/doors/raw-json.js";
import { FakeClient } from "./fake-client.js";

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

const door = createJsonRpcDoor(
  createDispatcher(
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
      operation("test.change", () => "changed", "operator"),
      operation("test.missing", () => {
        throw new XoError("NO_SUCH_OBJECT", { type: "VM", id: "x" });
      }),
      operation("test.xapi", () => {
        throw new XapiError("VM_BAD_POWER_STATE", ["r", "Halted", "Running"]);
      }),
      operation("test.bug", () => {
        throw new TypeError("hunter2 is not a function");
      }),
    ],
    logger,
  ),
);

const context: CallContext = {
  permission: "viewer",
  client: new FakeClient(),
  address: "192.0.2.7",
};

async function ask(message: unknown): Promise<unknown> {
  const text = typeof message === "string" ? message : JSON.stringify(message);
  const answer = await door.answer(text, context);
  return answer === undefined ? undefined : JSON.parse(answer.toString());
}

const call = (method: string, params?: unknown, id: unknown = 1) =>
  ask({ jsonrpc: "2.0", id, method, params });

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
  t.same(await ask(raw), result);
  t.same(await ask([raw]), [result]);
  t.match(await ask([raw, { ...raw, method: "test.nothing" }]), [
    result,
    { id: "r", result: true },
  ]);
  const answer = await door.answer(JSON.stringify(raw), context);
  t.ok(Buffer.isBuffer(answer));
});

t.test("a method without parameters takes anything", async (t) => {
  for (const params of [undefined, {}, [], null, { dummy: "dummy" }])
    t.match(await call("test.nothing", params), { result: true });
});

t.test("parameters that do not fit get code 10 and Ajv's errors", async (t) => {
  t.match(await call("test.add", { a: "2" }), {
    error: {
      code: 10,
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
    t.equal(await ask({ jsonrpc: "2.0", method }), undefined);
});

t.test("a batch is answered with a list", async (t) => {
  const one = { jsonrpc: "2.0", id: 1, method: "test.nothing" };
  t.match(await ask([one]), [{ id: 1, result: true }]);
  t.match(
    await ask([one, { ...one, id: undefined }, null, { ...one, id: 2 }]),
    [{ id: 1 }, { id: null, error: { code: -32600 } }, { id: 2 }],
  );
  t.equal(await ask([{ ...one, id: undefined }]), undefined);
  t.match(await ask([]), { error: { code: -32600 } });
  t.match(await ask(new Array(101).fill(one)), { error: { code: -32600 } });
});

t.test("what is not a request is said to be none", async (t) => {
  t.match(await ask("{"), { id: null, error: { code: -32700 } });
  for (const message of ["null", "1", '"x"', "{}", '{"method":"test.add"}'])
    t.match(await ask(message), { error: { code: -32600 } }, message);
});

t.test("errors are those of the table", async (t) => {
  t.match(await call("test.unknown"), {
    error: { code: -32601, data: { code: "UNKNOWN_METHOD" } },
  });
  t.match(await call("test.change"), {
    error: { code: 2, data: { code: "UNAUTHORIZED", permission: "operator" } },
  });
  t.match(await call("test.missing"), {
    error: { code: 1, message: "no such VM: x", data: { id: "x" } },
  });
});

t.test("names of Object.prototype are no methods", async (t) => {
  for (const name of ["constructor", "__proto__", "toString"])
    t.match(await call(name), { error: { code: -32601 } });
});

t.test("XAPI's own errors pass through", async (t) => {
  t.match(await call("test.xapi"), {
    error: {
      code: -32000,
      message: "VM_BAD_POWER_STATE(r, Halted, Running)",
      data: { code: "VM_BAD_POWER_STATE", params: ["r", "Halted", "Running"] },
    },
  });
});

t.test("what nobody foresaw is logged, and not told", async (t) => {
  errors.length = 0;
  const answer = await call("test.bug");
  t.match(answer, { error: { code: -32603, data: { code: "INTERNAL" } } });
  t.notMatch(JSON.stringify(answer), "hunter2");
  t.same(errors, ["test.bug failed"]);
});
