import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import t, { type Test } from "tap";
import { startTestServer } from "./test-server.js";

const SEED = Number(process.env["SEED"] ?? 20261121);

/** Below `limit`, the same in each run. */
function seeded(seed: number): (limit: number) => number {
  let state = seed >>> 0;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

interface Line {
  readonly socket: Socket;
  /** All that has come. */
  readonly received: () => string;
  readonly closed: Promise<unknown>;
  readonly until: (pattern: RegExp) => Promise<void>;
}

function dial(t: Test, host: string): Line {
  const [address, port] = host.split(":");
  const socket = connect(Number(port), address);
  let received = "";
  socket.on("error", () => undefined);
  socket.on("data", (chunk) => (received += chunk.toString("latin1")));
  t.teardown(() => {
    socket.destroy();
  });
  const closed = once(socket, "close");
  return {
    socket,
    closed,
    received: () => received,
    async until(pattern) {
      while (!pattern.test(received) && !socket.destroyed)
        await Promise.race([once(socket, "data"), closed]);
      t.match(received, pattern);
    },
  };
}

const UPGRADE = [
  "GET /api/ HTTP/1.1",
  "host: x",
  "connection: Upgrade",
  "upgrade: websocket",
  "sec-websocket-version: 13",
  "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
  "\r\n",
].join("\r\n");

const TEXT = 1;
const CLOSE = 8;
const PING = 9;

/** A frame of a client. */
function frame(opcode: number, payload: Buffer | string, fin = true): Buffer {
  const bytes = Buffer.from(payload);
  const mask = Buffer.from([1, 2, 3, 4]);
  const head =
    bytes.length < 126
      ? Buffer.from([(fin ? 0x80 : 0) | opcode, 0x80 | bytes.length])
      : Buffer.from([
          (fin ? 0x80 : 0) | opcode,
          0x80 | 126,
          bytes.length >> 8,
          bytes.length & 255,
        ]);
  const masked = bytes.map((byte, at) => byte ^ mask[at % 4]!);
  return Buffer.concat([head, mask, masked]);
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}

const CALL = '{"jsonrpc":"2.0","id":1,"method":"system.getServerVersion"}';
const ANSWER = /"id":1,"result"/;

async function open(t: Test, host: string): Promise<Line> {
  const line = dial(t, host);
  line.socket.write(UPGRADE);
  await line.until(/^HTTP\/1.1 101 /);
  return line;
}

t.test("data sent with the upgrade is not lost", async (t) => {
  const { host } = await startTestServer(t);
  const line = dial(t, host);
  line.socket.write(Buffer.concat([Buffer.from(UPGRADE), frame(TEXT, CALL)]));
  await line.until(ANSWER);
});

t.test(
  "a message may arrive in any fragments, with pings between",
  async (t) => {
    const { host } = await startTestServer(t);
    const line = await open(t, host);
    const pieces = [...CALL].flatMap((letter, at) => [
      frame(at === 0 ? TEXT : 0, letter, at === CALL.length - 1),
      ...(at % 10 === 5 ? [frame(PING, "p")] : []),
    ]);
    for (const byte of Buffer.concat(pieces))
      line.socket.write(Buffer.from([byte]));
    await line.until(ANSWER);
  },
);

t.test("frames that break the protocol end their connection", async (t) => {
  const { host, connect: connectClient } = await startTestServer(t);
  const unmasked = Buffer.from([0x81, 0x01, 0x41]);
  const bad: readonly (readonly [string, Buffer, number])[] = [
    ["no mask", unmasked, 1002],
    ["reserved bits", Buffer.from([0xf1, 0x80, 1, 2, 3, 4]), 1002],
    ["an opcode that there is not", frame(3, ""), 1002],
    ["a continuation of nothing", frame(0, "x"), 1002],
    [
      "a new message within another",
      Buffer.concat([frame(TEXT, "a", false), frame(TEXT, "b")]),
      1002,
    ],
    ["a ping in pieces", frame(PING, "x", false), 1002],
    ["a ping that is long", frame(PING, "x".repeat(126)), 1002],
    ["a close without a whole code", frame(CLOSE, "x"), 1002],
    [
      "a close with a code that there is not",
      frame(CLOSE, Buffer.from([0, 1])),
      1002,
    ],
    ["text that is none", frame(TEXT, Buffer.from([0xff, 0xfe])), 1007],
    ["binary", frame(2, CALL), 1003],
    [
      "2^63 bytes",
      Buffer.from([0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]),
      1009,
    ],
    [
      "2^40 bytes",
      Buffer.from([0x81, 0xff, 0, 0, 1, 0, 0, 0, 0, 0, 1, 2, 3, 4]),
      1009,
    ],
    [
      "compressed, though it was not negotiated",
      Buffer.from([0xc1, 0x81, 1, 2, 3, 4, 5]),
      1002,
    ],
    [
      "thousands of pieces",
      Buffer.concat([
        frame(TEXT, "x", false),
        ...Array<Buffer>(3000).fill(frame(0, "x", false)),
      ]),
      1008,
    ],
  ];
  for (const [what, bytes, code] of bad) {
    const line = await open(t, host);
    line.socket.write(bytes);
    // The close frame, with its code; 1003 waits for the other end's before it hangs up.
    const [high, low] = [code >> 8, code & 255].map((byte) => hex(byte));
    await line.until(new RegExp(`\\x88[^]\\x${high}\\x${low}`));
    t.pass(what);
    line.socket.destroy();
  }
  t.type(
    await (await connectClient()).request("system.getServerVersion"),
    "string",
  );
});

t.test("a flood of pings without reading is cut off, or borne", async (t) => {
  const { host, connect: connectClient } = await startTestServer(t);
  const line = await open(t, host);
  line.socket.pause();
  const pings = Buffer.concat(
    Array<Buffer>(1000).fill(frame(PING, "x".repeat(125))),
  );
  for (let i = 0; i < 100 && !line.socket.destroyed; i++) {
    line.socket.write(pings);
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.type(
    await (await connectClient()).request("system.getServerVersion"),
    "string",
  );
  line.socket.destroy();
});

t.test("connections that end halfway leave nothing behind", async (t) => {
  const { host, get } = await startTestServer(t);
  for (const part of [UPGRADE.slice(0, 40), UPGRADE, `${UPGRADE}\x81`]) {
    const line = dial(t, host);
    line.socket.write(part, "latin1");
    await new Promise((resolve) => setTimeout(resolve, 20));
    line.socket.resetAndDestroy();
    await line.closed;
  }
  for (let tries = 0; ; tries++) {
    const text = await (await get("/metrics")).text();
    if (text.includes("xo_api_clients 0")) break;
    if (tries > 200) return t.fail("a client is left");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
});

t.test("damaged streams of bytes affect no other stream", async (t) => {
  t.comment(`SEED=${SEED}`);
  const random = seeded(SEED);
  const { host, lines, connect: connectClient } = await startTestServer(t);
  const whole = Buffer.concat([
    frame(TEXT, CALL),
    frame(PING, "p"),
    frame(TEXT, CALL.slice(9), false),
    frame(0, "y"),
  ]);
  for (let round = 0; round < 60; round++) {
    const line = await open(t, host);
    const bytes = Buffer.from(whole);
    for (let i = 0; i <= random(6); i++)
      bytes[random(bytes.length)] = random(256);
    line.socket.end(random(4) === 0 ? randomBytes(200) : bytes);
    await line.closed;
  }
  t.type(
    await (await connectClient()).request("system.getServerVersion"),
    "string",
  );
  t.notMatch(lines.join(""), /failed|TypeError|uncaught/);
});

const CHUNKED = "transfer-encoding: chunked\r\n";

t.test("a request that could be read in two ways is refused", async (t) => {
  const { host } = await startTestServer(t);
  const secondRequest = "GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n";
  const post = (headers: string, body = "") =>
    `POST /auth/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${headers}\r\n${body}${secondRequest}`;
  const shapes: Readonly<Record<string, string>> = {
    "length and chunks": post(`content-length: 5\r\n${CHUNKED}`, "0\r\n\r\n"),
    "two lengths": post("content-length: 0\r\ncontent-length: 44\r\n"),
    "a length with a sign": post("content-length: +0\r\n"),
    "a length in hexadecimal": post("content-length: 0x0\r\n"),
    "a length list": post("content-length: 0, 44\r\n"),
    "chunks under another name": post(
      "transfer-encoding: xchunked\r\n",
      "0\r\n\r\n",
    ),
    "chunks that are not last": post(
      "transfer-encoding: chunked, identity\r\n",
      "0\r\n\r\n",
    ),
    "a space before the colon": post("content-length : 44\r\n"),
    "a folded header": post("x: y\r\n content-length: 44\r\n"),
    "a bare line feed": post("x: y\ncontent-length: 44\n"),
    "a bad chunk size": post(CHUNKED, "5;\n\r\nxxxxx\r\n0\r\n\r\n"),
    "no host": "GET / HTTP/1.1\r\n\r\n",
    "two hosts": post("Host: y\r\n"),
    "two hosts of a socket": UPGRADE.replace("\r\n\r\n", "\r\nHost: y\r\n\r\n"),
    "a zero in a header": post("x: \0\r\n"),
  };
  for (const [what, bytes] of Object.entries(shapes)) {
    const line = dial(t, host);
    line.socket.write(bytes, "latin1");
    await line.closed;
    t.match(line.received(), /^HTTP\/1.1 400 /, what);
    t.notMatch(
      line.received(),
      '{"live":true}',
      `${what}: nothing is smuggled`,
    );
  }
});

t.test("an upgrade does not carry requests along", async (t) => {
  const { host } = await startTestServer(t);
  const next = "GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n";
  const refused = dial(t, host);
  refused.socket.write(UPGRADE.replace("/api/", "/elsewhere") + next);
  await refused.closed;
  t.match(refused.received(), /^HTTP\/1.1 404 /);
  t.notMatch(refused.received(), '{"live":true}');
  const broken = dial(t, host);
  broken.socket.write(UPGRADE.replace("version: 13", "version: 7") + next);
  await broken.closed;
  t.match(broken.received(), /^HTTP\/1.1 (400|426) /);
  t.notMatch(broken.received(), '{"live":true}');
});
