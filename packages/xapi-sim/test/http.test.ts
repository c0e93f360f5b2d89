import t from "tap";
import { exchange } from "./support/raw-client.js";
import { tinyPool } from "./support/tiny-pool.js";

const BODY =
  '<?xml version="1.0"?><methodCall><methodName>VM.get_all</methodName><params></params></methodCall>';

function post(headers: string, version = "1.1", path = "/"): string {
  return `POST ${path} HTTP/${version}\r\n${headers}Content-Length: ${BODY.length}\r\n\r\n${BODY}`;
}

function head(answer: Buffer): string[] {
  return answer.toString().split("\r\n\r\n")[0]!.split("\r\n");
}

t.test("an answer has XAPI's headers in XAPI's order and case", async (t) => {
  const { pool } = await tinyPool(t);
  const lines = head(await exchange(pool.url, post("")));
  t.match(lines[1], /^content-length: \d+$/);
  t.same(
    [lines[0], ...lines.slice(2)],
    [
      "HTTP/1.1 200 OK",
      "connection: keep-alive",
      "cache-control: no-cache, no-store",
      "content-type: text/xml",
      "Access-Control-Allow-Origin: *",
      "Access-Control-Allow-Headers: X-Requested-With",
    ],
  );
});

t.test(
  "HTTP 1.0 closes unless keep-alive is requested, 1.1 stays open unless close is requested",
  async (t) => {
    const { pool } = await tinyPool(t);
    const connection = async (headers: string, version: string) =>
      head(await exchange(pool.url, post(headers, version)))[2];
    t.equal(await connection("", "1.0"), "connection: close");
    t.equal(
      await connection("Connection: keep-alive\r\n", "1.0"),
      "connection: keep-alive",
    );
    t.equal(await connection("", "1.1"), "connection: keep-alive");
    t.equal(
      await connection("Connection: close\r\n", "1.1"),
      "connection: close",
    );
  },
);

t.test("a header block may have at most 1006 bytes", async (t) => {
  const { pool } = await tinyPool(t);
  const padded = (bytes: number): string => {
    const bare = post("X-Pad: \r\n");
    const length = bare.indexOf("\r\n\r\n") + 4;
    return post(`X-Pad: ${"a".repeat(bytes - length)}\r\n`);
  };
  const status = async (bytes: number) =>
    head(await exchange(pool.url, padded(bytes)))[0];
  t.equal(await status(1006), "HTTP/1.1 200 OK");
  t.equal(await status(1007), "HTTP/1.1 431 Request Header Fields Too Large");
});

t.test(
  "a body may have 307,200 bytes, must have a length and is never chunked",
  async (t) => {
    const { pool } = await tinyPool(t);
    const big = "POST / HTTP/1.1\r\nContent-Length: 307201\r\n\r\n";
    t.match(
      (await exchange(pool.url, big)).toString(),
      /^HTTP\/1\.1 500 Internal Error\r\n.*Client_requested_size_over_limit/s,
    );
    const chunked =
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n";
    t.match(
      (await exchange(pool.url, chunked)).toString(),
      /We require a content-length: HTTP header/,
    );
  },
);

t.test("an incomplete request ends in 408 after ten seconds", async (t) => {
  const { pool } = await tinyPool(t);
  for (const text of ["POST / HTTP/1.1\nHost: x\n\n", "HELLO\r\n\r\n", "PO"])
    t.equal(
      head(await exchange(pool.url, text))[0],
      "HTTP/1.1 408 Request Timeout",
    );
});

t.test("requests sent together are answered in order", async (t) => {
  const { pool } = await tinyPool(t);
  const call = (method: string, id: number): string => {
    const body = `{"jsonrpc":"2.0","method":"${method}","params":["x"],"id":${id}}`;
    return `POST /jsonrpc HTTP/1.1\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  };
  const answer = await exchange(
    pool.url,
    call("VM.get_all", 1) + call("pool.get_all", 2) + call("nope", 3),
    3,
  );
  t.same(answer.toString().match(/"id":\d/g), ['"id":1', '"id":2', '"id":3']);
});

t.test("a path selects the handler with the longest prefix", async (t) => {
  const { pool } = await tinyPool(t);
  const type = async (path: string) =>
    head(await exchange(pool.url, post("", "1.1", path))).at(4);
  t.equal(await type("/RPC2"), "content-type: text/xml");
  t.equal(await type("/any/thing?x=1"), "content-type: text/xml");
  const json = await exchange(pool.url, post("", "1.1", "/jsonrpc/deeper"));
  t.match(json.toString(), /Yojson__Common\.Json_error/);
});

t.test("unknown methods are 501, known ones without handler 403", async (t) => {
  const { pool } = await tinyPool(t);
  const status = async (line: string) =>
    head(await exchange(pool.url, `${line} HTTP/1.1\r\n\r\n`))[0];
  // XAPI's own words, as it takes no DELETE either (recorded: jsonrpc-delete).
  t.equal(await status("DELETE /"), "HTTP/1.1 501 Method not implemented");
  t.equal(await status("GET /"), "HTTP/1.1 403 Forbidden");
  t.equal(await status("GET /export"), "HTTP/1.1 401 Unauthorised");
});

t.test("OPTIONS allows the requested method", async (t) => {
  const { pool } = await tinyPool(t);
  const answer = await exchange(
    pool.url,
    "OPTIONS /jsonrpc HTTP/1.1\r\nAccess-Control-Request-Headers: content-type\r\n\r\n",
  );
  t.same(head(answer).slice(-3), [
    "Access-Control-Allow-Origin: *",
    "Access-Control-Allow-Headers: content-type, X-Requested-With",
    "Access-Control-Allow-Methods: PUT",
  ]);
});
