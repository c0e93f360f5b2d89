import { createRequire } from "node:module";
import { PassThrough } from "node:stream";
import t, { type Test } from "tap";
import { XoError } from "@xo-server/model";
import { jsonInXmlTransport } from "../src/transports/json-in-xml.js";
import { jsonRpcTransport } from "../src/transports/json-rpc.js";
import type { Transport } from "../src/transports/transport.js";
import { xmlRpcTransport } from "../src/transports/xml-rpc.js";

/** Parses a request as a server would, with an independent parser. */
type Reader = (
  body: Uint8Array,
) => Promise<{ method: string; params: unknown[] }>;

const readJson: Reader = async (body) => {
  const request = JSON.parse(Buffer.from(body).toString()) as {
    jsonrpc: string;
    id: unknown;
    method: string;
    params: unknown[];
  };
  t.equal(request.jsonrpc, "2.0");
  t.type(request.id, "number", "without an id XAPI answers 500");
  return request;
};

const Deserializer = createRequire(import.meta.url)(
  "xmlrpc/lib/deserializer.js",
) as new () => {
  deserializeMethodCall(
    stream: PassThrough,
    callback: (error: Error | null, method: string, params: unknown[]) => void,
  ): void;
};

const readXml: Reader = (body) =>
  new Promise((resolve, reject) => {
    const stream = new PassThrough();
    stream.end(body);
    new Deserializer().deserializeMethodCall(
      stream,
      (error, method, params) => {
        if (error) reject(error);
        else resolve({ method, params });
      },
    );
  });

/** The contract of every transport. */
function contract(transport: Transport, path: string, read: Reader): void {
  const carries = async (t: Test, input: unknown, arrives: unknown) => {
    const { params } = await read(transport.encode("X.y", [input]));
    t.same(params, [arrives]);
  };

  t.test(`${transport.name}: the transport contract`, async (t) => {
    t.equal(transport.path, path);

    t.test("method and parameters arrive in order", async (t) => {
      t.same(
        (
          await read(
            transport.encode("VM.start", [
              "OpaqueRef:s",
              "OpaqueRef:v",
              false,
              true,
            ]),
          )
        ).params,
        ["OpaqueRef:s", "OpaqueRef:v", false, true],
      );
      t.match(await read(transport.encode("pool.get_all", [])), {
        method: "pool.get_all",
        params: [],
      });
    });

    t.test("every kind of value arrives", async (t) => {
      for (const value of [
        "",
        "text",
        "ünï 𝄞",
        "quote \" and ' ",
        0,
        -7,
        2 ** 31 - 1,
        0.25,
        true,
        false,
        [],
        ["a", ["b"]],
        {},
        { a: "b", c: { d: ["e"] } },
      ])
        await carries(t, value, value);
    });

    t.test("markup is not changed", async (t) => {
      for (const text of [
        "<a>&amp;</a>",
        "]]>",
        "<![CDATA[x]]> & ]]> <",
        "&lt;",
        "a<b",
        "a & b",
      ])
        await carries(t, text, text);
      await carries(t, { "a<&>b": "]]>&" }, { "a<&>b": "]]>&" });
    });

    t.test(
      "integers above 2^53, NaN and infinities are sent as strings that XAPI accepts",
      async (t) => {
        await carries(t, 9223372036854775807n, "9223372036854775807");
        await carries(t, [NaN, Infinity, -Infinity], ["nan", "inf", "-inf"]);
      },
    );

    t.test(
      "a Date becomes XAPI's datetime, a Map becomes a map, and undefined members are omitted",
      async (t) => {
        await carries(
          t,
          new Date("2026-11-21T03:54:40.123Z"),
          "20261121T03:54:40Z",
        );
        await carries(t, new Map([["k", "v"]]), { k: "v" });
        await carries(t, { a: "b", c: undefined }, { a: "b" });
      },
    );

    t.test("__proto__ is an ordinary member name", async (t) => {
      const body = Buffer.from(
        transport.encode("X.y", [JSON.parse('{"__proto__":{"a":"b"}}')]),
      ).toString();
      t.match(body, "__proto__");
      t.match(body, /a.*b/);
      t.equal(({} as { a?: string }).a, undefined);
    });

    t.test("values that cannot be encoded are rejected before sending", (t) => {
      const round: unknown[] = [];
      round.push(round);
      for (const value of [
        undefined,
        () => 1,
        Symbol("s"),
        new Date(NaN),
        round,
        // Half a character: XAPI answers it with HTTP 500.
        "a\ud83d",
        { "\udc00": "a" },
      ])
        t.throws(() => transport.encode("X.y", [value]), {
          code: "INVALID_PARAMETERS",
        });
      t.end();
    });
  });
}

contract(jsonRpcTransport, "/jsonrpc", readJson);
contract(xmlRpcTransport, "/", readXml);
contract(jsonInXmlTransport, "/json", readXml);

t.test(
  "XML: text that cannot be represented is rejected, and the error does not contain the text",
  (t) => {
    try {
      xmlRpcTransport.encode("X.y", ["secret\u0000"]);
      t.fail("it was taken");
    } catch (error) {
      t.ok(error instanceof XoError && error.code === "INVALID_PARAMETERS");
      t.notMatch(
        `${String(error)} ${String((error as Error).cause)}`,
        "secret",
      );
    }
    t.end();
  },
);
