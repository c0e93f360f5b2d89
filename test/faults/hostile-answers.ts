/** An HTTP answer with a JSON body. */
function answer(body: string, headers = ""): Buffer {
  const length = Buffer.byteLength(body);
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${headers === "" ? `content-length: ${length}\r\n` : headers}\r\n${body}`,
  );
}

const MIB = 2 ** 20;
const result = (value: string) => `{"jsonrpc":"2.0","id":1,"result":${value}}`;

/** What a host that was taken over could send in the place of an answer, by name. */
export const hostileAnswers: Readonly<Record<string, Buffer>> = {
  "deep nesting": answer(result("[".repeat(200_000))),
  "negative length": answer("{}", "content-length: -5\r\n"),
  "huge length": answer("{}", "content-length: 9007199254740993\r\n"),
  "two lengths": answer("{}", "content-length: 2\r\ncontent-length: 7\r\n"),
  "huge chunk": answer(
    "ffffffffffffffff\r\n{}",
    "transfer-encoding: chunked\r\n",
  ),
  "chunk without a size": answer("zz\r\n{}", "transfer-encoding: chunked\r\n"),
  "head without an end": Buffer.from(
    `HTTP/1.1 200 OK\r\nx: ${"x".repeat(MIB)}`,
  ),
  "many headers": Buffer.from(
    `HTTP/1.1 200 OK\r\n${"a: b\r\n".repeat(50_000)}\r\n`,
  ),
  "no HTTP": Buffer.from("\u0000\u0001SSH-2.0-OpenSSH_9.2\r\n"),
  "long string": answer(result(`"${"x".repeat(8 * MIB)}"`)),
  "huge number": answer(result(`${"9".repeat(100_000)}e999999999`)),
  "prototype keys": answer(
    result('{"__proto__":{"a":1},"constructor":{"prototype":{"b":1}}}'),
  ),
  "records of other shapes": answer(
    result('{"OpaqueRef:1":null,"OpaqueRef:2":[],"":{"uuid":{"a":[]}}}'),
  ),
  "entity expansion": Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: text/xml\r\n\r\n<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "${"x".repeat(1_000)}"><!ENTITY b "${"&a;".repeat(1_000)}">]><methodResponse>&b;</methodResponse>`,
  ),
  "redirect elsewhere": Buffer.from(
    "HTTP/1.1 302 Found\r\nlocation: http://192.0.2.1/\r\ncontent-length: 0\r\n\r\n",
  ),
  "another coordinator": answer(
    result("null").replace(
      '"result":null',
      '"error":{"code":1,"message":"HOST_IS_SLAVE","data":["192.0.2.1"]}',
    ),
  ),
};
