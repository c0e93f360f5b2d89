import t from "tap";
import { TestClient, exchange } from "./support/raw-client.js";
import { VM, tinyPool } from "./support/tiny-pool.js";

async function post(url: string, path: string, body: string): Promise<string> {
  const answer = await exchange(
    url,
    `POST ${path} HTTP/1.1\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  return answer.subarray(answer.indexOf("\r\n\r\n") + 4).toString();
}

function xmlCall(method: string, ...params: string[]): string {
  const values = params.map((p) => `<param><value>${p}</value></param>`);
  return `<methodCall><methodName>${method}</methodName><params>${values.join("")}</params></methodCall>`;
}

async function xmlValue(
  url: string,
  client: TestClient,
  method: string,
): Promise<string | undefined> {
  const text = await post(url, "/", xmlCall(method, client.session, VM));
  return /<name>Value<\/name>(.*)<\/member>/.exec(text)?.[1];
}

t.test("XML-RPC encodings values as XAPI does", async (t) => {
  const { pool, client } = await tinyPool(t);
  pool.database.update("VM", VM, {
    name_label: `<a> & "b" 'c'`,
    other_config: { "k<&": "v<&" },
  });
  const value = (method: string) => xmlValue(pool.url, client, method);
  t.equal(
    await value("VM.get_memory_static_max"),
    "<value>4294967296</value>",
    "an integer is untagged",
  );
  t.equal(
    await value("VM.get_HVM_shadow_multiplier"),
    "<value><double>4</double></value>",
  );
  t.equal(
    await value("VM.get_is_a_template"),
    "<value><boolean>0</boolean></value>",
  );
  t.equal(
    await value("VM.get_snapshot_time"),
    "<value><dateTime.iso8601>19700101T00:00:00Z</dateTime.iso8601></value>",
  );
  t.equal(
    await value("VM.get_name_label"),
    "<value>&lt;a&gt; &amp; &quot;b&quot; 'c'</value>",
  );
  t.equal(
    await value("VM.get_other_config"),
    "<value><struct><member><name>k<&</name><value>v&lt;&amp;</value></member></struct></value>",
    "keys go out unescaped",
  );
  t.equal(
    await value("VM.get_VBDs"),
    "<value><array><data></data></array></value>",
  );
});

t.test(
  "JSON distinguishes floats from integers and writes NaN without quotes",
  async (t) => {
    const { pool, client } = await tinyPool(t);
    const value = async (): Promise<string> => {
      const text = await post(
        pool.url,
        "/jsonrpc",
        `{"method":"VM.get_HVM_shadow_multiplier","params":["${client.session}","${VM}"],"id":"x"}`,
      );
      return (
        /^\{"result":(.*),"error":null,"id":"x"\}$/.exec(text)?.[1] ?? text
      );
    };
    for (const [input, written] of [
      [4, "4.0"],
      [0.1, "0.1"],
      [1 / 3, "0.3333333333333333"],
      [0.1 + 0.2, "0.30000000000000004"],
      [1e300, "1e+300"],
      [0.00001, "1e-05"],
      [NaN, "NaN"],
      [-Infinity, "-Infinity"],
    ] as const) {
      pool.database.update("VM", VM, { HVM_shadow_multiplier: input });
      t.equal(await value(), written);
    }
  },
);

t.test(
  "integers keep all their 64 bits, and ids all their digits",
  async (t) => {
    const { pool, client } = await tinyPool(t);
    const call = (method: string, params: string, id: string) =>
      post(
        pool.url,
        "/jsonrpc",
        `{"jsonrpc":"2.0","method":"${method}","params":["${client.session}","${VM}"${params}],"id":${id}}`,
      );
    t.equal(
      await call("VM.set_order", ",9223372036854775807", "9007199254740993"),
      '{"jsonrpc":"2.0","result":"","id":9007199254740993}',
    );
    t.equal(
      await call("VM.get_order", "", "0"),
      '{"jsonrpc":"2.0","result":9223372036854775807,"id":0}',
    );
  },
);

t.test("an empty map may be one tag or two", async (t) => {
  const { pool, client } = await tinyPool(t);
  for (const empty of ["<struct/>", "<struct></struct>"]) {
    const call = xmlCall("VM.set_other_config", client.session, VM, empty);
    t.match(await post(pool.url, "/", call), "<name>Status</name>");
    t.same(await client.call("VM.get_other_config", VM), {}, empty);
    await client.call("VM.add_to_other_config", VM, "k", "v");
  }
});

t.test("a key named __proto__ is a key like any other", async (t) => {
  const { client } = await tinyPool(t);
  await client.call("VM.add_to_other_config", VM, "__proto__", "x");
  const config = (await client.call("VM.get_other_config", VM)) as object;
  t.same(Object.entries(config), [["__proto__", "x"]]);
  await t.rejects(client.call("VM.add_to_other_config", VM, "__proto__", "y"), {
    message: `MAP_DUPLICATE_KEY VM other_config ${VM} __proto__`,
  });
  await client.call("VM.remove_from_other_config", VM, "__proto__");
  t.same(await client.call("VM.get_other_config", VM), {});
});

t.test("a DTD is skipped and its entities stay unknown", async (t) => {
  const { pool, client } = await tinyPool(t);
  const dtd = '<!DOCTYPE a [<!ENTITY x "y">]>';
  t.match(
    await post(pool.url, "/", dtd + xmlCall("pool.get_all", client.session)),
    /OpaqueRef:pool/,
  );
  t.match(
    await post(pool.url, "/", dtd + xmlCall("pool.get_all", "&x;")),
    /unknown entity reference \(x\)/,
  );
});

t.test("deep nesting is refused and the server lives on", async (t) => {
  const { pool, client } = await tinyPool(t);
  const deep = "[".repeat(100_000);
  t.match(
    await post(pool.url, "/jsonrpc", `{"method":"x","id":1,"params":${deep}`),
    /Stack_overflow/,
  );
  t.match(
    await post(
      pool.url,
      "/",
      `<methodCall><methodName>x</methodName><params><param>${"<value><array><data>".repeat(14_000)}`,
    ),
    /Stack_overflow/,
  );
  t.same(await client.call("pool.get_all"), ["OpaqueRef:pool"]);
});

t.test(
  "/json is XML-RPC today, and JSON inside XML-RPC on an old host",
  async (t) => {
    const { pool, client } = await tinyPool(t);
    const body = (session: string) =>
      xmlCall("network.get_all_records", session);
    t.equal(
      await post(pool.url, "/json", body(client.session)),
      await post(pool.url, "/", body(client.session)),
    );
    const old = await tinyPool(t, { legacyJson: true });
    const login = await post(
      old.pool.url,
      "/json",
      xmlCall("session.login_with_password", "root", "password"),
    );
    const text = inner(login);
    const { Status, Value } = JSON.parse(text) as {
      Status: string;
      Value: string;
    };
    t.equal(Status, "Success");
    const records = JSON.parse(
      inner(await post(old.pool.url, "/json", body(Value))),
    ) as {
      Value: object;
    };
    t.same(Object.keys(records.Value), ["OpaqueRef:network"]);
  },
);

function inner(xml: string): string {
  return /<param><value>(.*)<\/value><\/param>/s
    .exec(xml)![1]!
    .replace(/&quot;/g, '"')
    .replace(/&lt;/g, "<")
    .replace(/&gt;/g, ">")
    .replace(/&amp;/g, "&");
}
