import t from "tap";
import type { XoError } from "@xo-server/model";
import { createParserPool, type Place } from "../src/index.js";
import { feed, type FeedOptions } from "./support/feed.js";

const RECORDS =
  '{"jsonrpc":"2.0","result":{"OpaqueRef:1":{"uuid":"a"}},"id":0}';
const OPEN = '<?xml version="1.0"?><methodResponse><params><param><value>';
const CLOSE = "</value></param></params></methodResponse>";

const status = (value: string) =>
  `${OPEN}<struct><member><name>Status</name><value>Success</value></member><member><name>Value</name>${value}</member></struct>${CLOSE}`;

type Case = readonly [what: string, body: string | Buffer, code?: string];

const jsonCases: readonly Case[] = [
  ["an empty body", ""],
  ["HTML instead of JSON", "<html><body>500</body></html>"],
  ["text instead of JSON", "Internal Server Error"],
  ["an array", "[]"],
  ["garbage after the value", `${RECORDS} x`],
  ["a second value", `${RECORDS}{}`],
  [
    "a trailing comma in a record",
    '{"result":{"a":{"x":1,}},"error":null,"id":1}',
  ],
  [
    "a trailing comma among records",
    '{"result":{"a":{},},"error":null,"id":1}',
  ],
  ["a missing comma", '{"result":{"a":{} "b":{}},"error":null,"id":1}'],
  ["a missing colon", '{"result":{"a" {}},"error":null,"id":1}'],
  ["a record that is not an object", '{"result":{"a":1},"error":null,"id":1}'],
  ["records that are a list", '{"result":[],"error":null,"id":1}'],
  ["records that are null", '{"result":null,"error":null,"id":1}'],
  ["neither result nor error", '{"jsonrpc":"2.0","id":1}'],
  ["an error that is not a list", '{"jsonrpc":"2.0","error":"x","id":1}'],
  ["an error of numbers", '{"jsonrpc":"2.0","error":[1],"id":1}'],
  ["a bad escape", '{"result":{"a":{"x":"\\q"}},"error":null,"id":1}'],
  [
    "a bad unicode escape",
    '{"result":{"a":{"x":"\\u12g4"}},"error":null,"id":1}',
  ],
  [
    "a raw control character",
    '{"result":{"a":{"x":"\u0001"}},"error":null,"id":1}',
  ],
  ["a leading zero", '{"result":{"a":{"x":01}},"error":null,"id":1}'],
  ["a lone minus", '{"result":{"a":{"x":-}},"error":null,"id":1}'],
  [
    "a number without fraction digits",
    '{"result":{"a":{"x":1.}},"error":null,"id":1}',
  ],
  ["a misspelt word", '{"result":{"a":{"x":nulL}},"error":null,"id":1}'],
  [
    "brackets of the wrong kind",
    '{"result":{"a":{"x":[1}}},"error":null,"id":1}',
  ],
  [
    "a reference with an escape",
    '{"result":{"\\u0061":{}},"error":null,"id":1}',
  ],
  [
    "a number of a million digits",
    `{"result":{"a":{"x":${"9".repeat(1e6)}}},"error":null,"id":1}`,
  ],
  [
    "invalid UTF-8",
    Buffer.concat([
      Buffer.from('{"result":{"a":{"x":"'),
      Buffer.of(0xff, 0xfe),
      Buffer.from('"}},"error":null,"id":1}'),
    ]),
  ],
  [
    "100,000 levels of arrays",
    `{"result":{"a":{"x":${"[".repeat(1e5)}${"]".repeat(1e5)}}},"error":null,"id":1}`,
    "ANSWER_TOO_DEEP",
  ],
  [
    "100,000 levels of objects",
    `{"result":${'{"a":'.repeat(1e5)}1${"}".repeat(1e5)},"error":null,"id":1}`,
    "ANSWER_TOO_DEEP",
  ],
];

const xmlCases: readonly Case[] = [
  [
    "invalid UTF-8",
    Buffer.concat([
      Buffer.from(`${OPEN}<struct><member><name>Status</name><value>`),
      Buffer.of(0xff),
      Buffer.from(`</value></member></struct>${CLOSE}`),
    ]),
  ],
  ["an empty body", ""],
  ["HTML instead of XML", "<html><body>500</body></html>"],
  ["JSON instead of XML", RECORDS],
  [
    "a document type declaration",
    `<?xml version="1.0"?><!DOCTYPE x>${status("<value><struct></struct></value>").slice(21)}`,
  ],
  [
    "an entity bomb",
    `<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;">]><methodResponse><params><param><value>&b;</value></param></params></methodResponse>`,
  ],
  [
    "a fault",
    "<?xml version='1.0'?><methodResponse><fault><value><struct></struct></value></fault></methodResponse>",
  ],
  [
    "a Status that is neither",
    `${OPEN}<struct><member><name>Status</name><value>Maybe</value></member></struct>${CLOSE}`,
  ],
  [
    "a Success without Value",
    `${OPEN}<struct><member><name>Status</name><value>Success</value></member></struct>${CLOSE}`,
  ],
  [
    "records that are a list",
    status("<value><array><data></data></array></value>"),
  ],
  [
    "a boolean of 2",
    status(
      "<value><struct><member><name>r</name><value><struct><member><name>x</name><value><boolean>2</boolean></value></member></struct></value></member></struct></value>",
    ),
  ],
  [
    "an integer that is none",
    status(
      "<value><struct><member><name>r</name><value><struct><member><name>x</name><value><int>1x</int></value></member></struct></value></member></struct></value>",
    ),
  ],
  [
    "a double that is none",
    status(
      "<value><struct><member><name>r</name><value><struct><member><name>x</name><value><double>0x10</double></value></member></struct></value></member></struct></value>",
    ),
  ],
  [
    "an unknown tag",
    status(
      "<value><struct><member><name>r</name><value><blink>1</blink></value></member></struct></value>",
    ),
  ],
  [
    "100,000 levels",
    status(
      `${"<value><array><data>".repeat(1e5)}${"</data></array></value>".repeat(1e5)}`,
    ),
    "ANSWER_TOO_DEEP",
  ],
];

/** Invalid input that the xmlrpc package accepts. */
const strictXmlCases: readonly Case[] = [
  ["garbage after the end", `${status("<value><struct></struct></value>")}x`],
  [
    "an unknown entity",
    status(
      "<value><struct><member><name>r</name><value><struct><member><name>x</name><value>&lol;</value></member></struct></value></member></struct></value>",
    ),
  ],
  [
    "crossed tags",
    status(
      "<value><struct><member><name>r</name><value><struct></value></struct></member></struct></value>",
    ),
  ],
];

const nestedJson = JSON.stringify(
  `{"Status":"Success","Value":${"[".repeat(1e5)}`,
);
const jsonInXmlCases: readonly Case[] = [
  ["a broken JSON string", `${OPEN}{&quot;Status&quot;:${CLOSE}`],
  [
    "garbage after the JSON",
    `${OPEN}{&quot;Status&quot;:&quot;Success&quot;,&quot;Value&quot;:{}}x${CLOSE}`,
  ],
  [
    "garbage after the XML",
    `${OPEN}{&quot;Status&quot;:&quot;Success&quot;,&quot;Value&quot;:{}}${CLOSE}x`,
  ],
  [
    "100,000 levels",
    `${OPEN}${nestedJson.slice(1, -1).replaceAll('\\"', "&quot;")}${CLOSE}`,
    "ANSWER_TOO_DEEP",
  ],
];

const suites = [
  ["json-rpc", "reader", jsonCases],
  ["xml-rpc", "reader", [...xmlCases, ...strictXmlCases]],
  ["xml-rpc", "xmlrpc", xmlCases],
  [
    "json-in-xml",
    "reader",
    [...xmlCases.filter(([what]) => !what.includes("JSON")), ...jsonInXmlCases],
  ],
] as const;

for (const place of ["main", "worker"] satisfies Place[]) {
  for (const [encoding, xml, cases] of suites) {
    t.test(
      `${encoding} by ${xml}, ${place}: invalid responses are typed errors`,
      async (t) => {
        const pool = createParserPool({ place, xml, segmentBytes: 64 * 1024 });
        t.teardown(() => pool.close());
        for (const [what, body, code = "BAD_ANSWER"] of cases) {
          const request: FeedOptions = { encoding };
          await t.rejects(
            feed(pool, Buffer.from(body), request),
            { code },
            what,
          );
        }
        t.equal(pool.stats().streams, 0, "no stream is left");
      },
    );
  }
}

t.test(
  "an error has the first bytes of the answer, printable and without references",
  async (t) => {
    const pool = createParserPool({ place: "main" });
    t.teardown(() => pool.close());
    const body = `{"result":"OpaqueRef:5ec12e7-0000" \u0007 ${"x".repeat(200)}`;
    const error = await feed(pool, Buffer.from(body), { shape: "value" }).then(
      () => undefined,
      (reason: unknown) => reason as XoError,
    );
    const start = error!.data["start"] as string;
    t.match(start, /^\{"result":"OpaqueRef:\.\.\." \. x+$/);
    t.ok(start.length <= 80);
    t.notMatch(error!.message, /5ec12e7/);
  },
);

t.test(
  "invalid UTF-8 is accepted in an error, where XAPI repeats its input",
  async (t) => {
    const pool = createParserPool({ place: "main" });
    t.teardown(() => pool.close());
    const body = Buffer.concat([
      Buffer.from('{"jsonrpc":"2.0","error":["INVALID_VALUE","'),
      Buffer.of(0xff),
      Buffer.from('"],"id":0}'),
    ]);
    const { answer } = await feed(pool, body);
    t.same(answer, {
      outcome: "failure",
      encoding: "json-rpc",
      error: ["INVALID_VALUE", "\ufffd"],
    });
  },
);

t.test(
  "errors before dispatch, a bare array with id 0, are failures",
  async (t) => {
    const pool = createParserPool({ place: "main" });
    t.teardown(() => pool.close());
    for (const shape of ["value", "records", "events"] as const) {
      const body = Buffer.from(
        '{"jsonrpc":"2.0","error":["HOST_STILL_BOOTING"],"id":0}',
      );
      const { answer } = await feed(pool, body, { shape });
      t.match(answer, { outcome: "failure", error: ["HOST_STILL_BOOTING"] });
    }
  },
);

t.test(
  "members of the envelope may be in any order, with white space",
  async (t) => {
    const pool = createParserPool({ place: "main" });
    t.teardown(() => pool.close());
    const body = Buffer.from(
      ' { "id" : 1 ,\n "result" : { "OpaqueRef:1" : { "uuid" : "a" } , "OpaqueRef:2" : { } } , "error" : null } \r\n',
    );
    for (let size = 1; size < body.length; size += 7) {
      const { records } = await feed(pool, body, { chunk: () => size });
      t.same(
        records.map(({ record }) => record),
        [{ uuid: "a" }, {}],
      );
    }
  },
);

t.test("a repeated reference gives two records", async (t) => {
  const pool = createParserPool({ place: "main" });
  t.teardown(() => pool.close());
  const body = Buffer.from(
    '{"result":{"OpaqueRef:1":{"uuid":"a"},"OpaqueRef:1":{"uuid":"b"}},"error":null,"id":1}',
  );
  const { records } = await feed(pool, body);
  t.same(
    records.map(({ record }) => record),
    [{ uuid: "a" }, { uuid: "b" }],
  );
});

t.test("keys such as __proto__ do not change a prototype", async (t) => {
  const pool = createParserPool({ place: "main", xml: "xmlrpc" });
  t.teardown(() => pool.close());
  const json = Buffer.from(
    '{"result":{"__proto__":{"__proto__":{"polluted":true},"constructor":"x"}},"error":null,"id":1}',
  );
  const xml = Buffer.from(
    status(
      "<value><struct><member><name>__proto__</name><value><struct><member><name>__proto__</name><value><struct><member><name>polluted</name><value><boolean>1</boolean></value></member></struct></value></member><member><name>constructor</name><value>x</value></member></struct></value></member></struct></value>",
    ),
  );
  for (const [body, encoding] of [
    [json, "json-rpc"],
    [xml, "xml-rpc"],
  ] as const) {
    const { records } = await feed(pool, body, { encoding });
    t.equal(records[0]!.ref, "__proto__");
    t.same(Object.keys(records[0]!.record as object), [
      "__proto__",
      "constructor",
    ]);
    t.equal(({} as { polluted?: boolean }).polluted, undefined);
  }
});

t.test(
  "XML-RPC with white space, empty elements, comments and unescaped keys is decoded",
  async (t) => {
    const pool = createParserPool({ place: "main" });
    t.teardown(() => pool.close());
    const body = Buffer.from(`\ufeff<?xml version="1.0"?>
<!-- hello -->
<methodResponse> <params> <param>
 <value> <struct>
  <member> <name>Status</name> <value> <string>Success</string> </value> </member>
  <member> <name>Value</name> <value> <struct>
    <member><name>a&b<c</name><value/></member>
    <member><name>n</name><value> <nil/> </value></member>
    <member><name>i</name><value><i8>-5</i8></value></member>
    <member><name>b</name><value><base64>QUJD</base64></value></member>
    <member><name>l</name><value><array><data/></array></value></member>
    <member><name>s</name><value><struct/></value></member>
    <member><name>x</name><value>&#65;&#x1F4A9;&apos; </value></member>
  </struct> </value> </member>
 </struct> </value>
</param> </params> </methodResponse>
`);
    const { answer } = await feed(pool, body, {
      encoding: "xml-rpc",
      shape: "value",
      className: "",
    });
    t.same(answer, {
      outcome: "success",
      encoding: "xml-rpc",
      value: {
        "a&b<c": "",
        n: null,
        i: -5,
        b: "QUJD",
        l: [],
        s: {},
        x: "A💩' ",
      },
    });
  },
);

t.test(
  "a value without Status, as of system.listMethods, is a success",
  async (t) => {
    for (const xml of ["reader", "xmlrpc"] as const) {
      const pool = createParserPool({ place: "main", xml });
      const body = Buffer.from(
        `${OPEN}<array><data><value>VM.start</value></data></array>${CLOSE}`,
      );
      for (const encoding of ["xml-rpc", "json-in-xml"] as const) {
        const { answer } = await feed(pool, body, {
          encoding,
          shape: "value",
          className: "",
        });
        t.same(answer, {
          outcome: "success",
          encoding: "xml-rpc",
          value: ["VM.start"],
        });
      }
      await pool.close();
    }
  },
);
