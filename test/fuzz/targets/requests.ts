import { connect } from "node:net";
import { startFuzzedServer } from "../fuzzed-server.js";

const { port, defects } = await startFuzzedServer();
/** An answer that takes longer, in ms, is not waited for: the request may be incomplete. */
const PATIENCE_MS = 20;

const request = (head: string, body = "") =>
  `${head}\r\nhost: x\r\nauthorization: Basic YWRtaW46YSBwYXNzd29yZCBvZiB0ZXN0cw==\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`;
/** A masked text frame with the mask 0. */
const frame = (text: string) =>
  Buffer.concat([
    Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]),
    Buffer.from(text),
  ]);
const upgrade = Buffer.from(
  "GET /api/ HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
);

export const seeds = [
  request("GET /rest/v0/vms?fields=*&filter=a:b&limit=2 HTTP/1.1"),
  request("GET /rest/v0/users HTTP/1.1"),
  request("POST /rest/v0/users HTTP/1.1", '{"name":"a","password":"b"}'),
  request(
    "POST /rest/v0/mcp HTTP/1.1",
    '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
  ),
  request("GET /openmetrics HTTP/1.1"),
  Buffer.concat([
    upgrade,
    frame('{"jsonrpc":"2.0","id":1,"method":"system.listMethods"}'),
  ]),
  Buffer.concat([
    upgrade,
    frame(
      '[{"jsonrpc":"2.0","method":"session.signIn","params":{"email":"a"}}]',
    ),
    frame("x"),
  ]),
];

/** Bytes of a connection: HTTP, REST, upgrades, WebSocket frames, JSON-RPC. */
export async function run(input: Buffer): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  let answer = "";
  await new Promise<void>((resolve) => {
    socket.on(
      "data",
      (bytes: Buffer) => (answer += bytes.toString("latin1", 0, 4_000)),
    );
    // Refused bytes reset the connection.
    socket.on("error", () => undefined).on("close", () => resolve());
    socket.write(input);
    setTimeout(() => socket.destroy(), PATIENCE_MS);
  });
  if (/^HTTP\/1\.1 500|"code":-32603/.test(answer))
    throw new Error(`internal error: ${answer.slice(0, 2_000)}`);
  if (defects.length > 0)
    throw new Error(`logged as an error: ${defects.splice(0).join("")}`);
}
