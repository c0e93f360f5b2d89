import t from "tap";
import {
  XapiError,
  XoError,
  errorTable,
  type ErrorData,
} from "@xo-server/model";

t.test("an error has its code, its data and a message", async (t) => {
  const cause = new Error("ECONNREFUSED");
  const error = new XoError(
    "CONNECTION_REFUSED",
    { address: "10.0.0.1" },
    cause,
  );
  t.equal(error.code, "CONNECTION_REFUSED");
  t.equal(error.message, "10.0.0.1 refused the connection");
  t.equal(error.cause, cause);
});

t.test("a datum that is missing shows as a question mark", async (t) => {
  t.equal(
    new XoError("PORT_IN_USE", { host: "::" }).message,
    ":::? is in use by another program",
  );
});

t.test("data cannot reach into the prototype", async (t) => {
  t.equal(
    new XoError(
      "CONFIG_INVALID",
      JSON.parse('{"__proto__":{"where":"x"}}') as ErrorData,
    ).message,
    "?: ?",
  );
});

t.test(
  "every row has a message, an HTTP status and a JSON-RPC code",
  async (t) => {
    for (const [code, row] of Object.entries(errorTable)) {
      t.match(code, /^[A-Z_]+$/);
      t.ok(row.message.length > 0, code);
      t.ok(row.http >= 400 && row.http < 600, code);
      t.ok(Number.isInteger(row.jsonRpc), code);
    }
  },
);

t.test("XAPI's code and parameters pass through", async (t) => {
  const error = new XapiError(
    "HANDLE_INVALID",
    ["VM", "OpaqueRef:1"],
    "VM.start",
  );
  t.equal(error.message, "HANDLE_INVALID(VM, OpaqueRef:1)");
  t.same(error.params, ["VM", "OpaqueRef:1"]);
  t.equal(error.method, "VM.start");
});

t.test(
  "the session in SESSION_INVALID is a secret and is dropped",
  async (t) => {
    const error = new XapiError("SESSION_INVALID", ["OpaqueRef:secret"]);
    t.notMatch(JSON.stringify({ ...error, m: error.message }), /secret/);
  },
);
