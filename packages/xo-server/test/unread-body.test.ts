import { connect } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import t from "tap";
import { ADMIN_PASSWORD, startTestServer } from "./test-server.js";

const MiB = 2 ** 20;
const chunk = Buffer.alloc(64 * 1024, "x");

interface Rejected {
  readonly head: string;
  readonly text: string;
  /** Bytes that were sent until the server closed the connection. */
  readonly sent: number;
  readonly error: Error | undefined;
}

/** Sends the head, waits for the complete response, and sends the body only then. */
async function sendAfterResponse(
  host: string,
  head: readonly string[],
  length: number,
): Promise<Rejected> {
  const [hostname, port] = host.split(":");
  const socket = connect({ host: hostname!, port: Number(port) });
  let error: Error | undefined;
  let text = "";
  let isClosed = false;
  socket.on("error", (reason) => (error = reason));
  socket.on("data", (bytes: Buffer) => (text += bytes.toString()));
  socket.on("close", () => (isClosed = true));
  const lines = [...head, `host: ${host}`, `content-length: ${length}`];
  socket.write(`${lines.join("\r\n")}\r\n\r\nbegin`);
  const isComplete = () => {
    const [, size] = /content-length: (\d+)/i.exec(text) ?? [];
    const start = text.indexOf("\r\n\r\n") + 4;
    return start > 3 && text.length - start >= Number(size);
  };
  while (!isComplete() && !isClosed) await nextTurn();
  let sent = 5;
  while (sent < length && !isClosed) {
    if (!socket.write(chunk.subarray(0, Math.min(chunk.length, length - sent))))
      await new Promise<void>((resolve) => {
        const go = () => {
          socket.off("drain", go).off("close", go);
          resolve();
        };
        socket.on("drain", go).on("close", go);
      });
    sent += chunk.length;
  }
  while (!isClosed) await nextTurn();
  return { head: text.split("\r\n\r\n")[0]!, text, sent, error };
}

t.test("a client that is still sending can read the response", async (t) => {
  const { host, connect: open } = await startTestServer(t);
  const basic = Buffer.from(`admin:${ADMIN_PASSWORD}`).toString("base64");
  const client = await (await open()).signIn();
  const auth = `authorization: Basic ${basic}`;
  const octets = "content-type: application/octet-stream";
  const casesWith = ($sendTo: string): [status: number, head: string[]][] => [
    // A digest that cannot be used is refused before the body is read.
    [422, [`POST ${$sendTo} HTTP/1.1`, octets, "repr-digest: md5=:AAAA:"]],
    [404, [`POST /api/${"x".repeat(43)} HTTP/1.1`, octets]],
    [401, ["POST /rest/v0/srs/s/vdis HTTP/1.1", octets]],
    [404, ["POST /rest/v0/srs/s/vdis HTTP/1.1", octets, auth]],
    [415, ["POST /rest/v0/users HTTP/1.1", octets, auth]],
    [
      413,
      ["POST /rest/v0/users HTTP/1.1", auth, "content-type: application/json"],
    ],
  ];
  for (const connection of ["close", "keep-alive"]) {
    const { $sendTo } = (await client.request("xo.importConfig", {
      passphrase: "long enough",
    })) as { $sendTo: string };
    for (const [status, head] of casesWith($sendTo)) {
      const all = [...head, `connection: ${connection}`];
      const title = `${status} ${head[0]!.slice(0, 30)}, ${connection}`;
      const rejected = await sendAfterResponse(host, all, 8 * MiB);
      t.match(rejected.head, `HTTP/1.1 ${status} `, title);
      t.match(rejected.head, /connection: close/i);
      t.equal(rejected.error, undefined, title);
      t.ok(rejected.sent >= 8 * MiB, `${title}: ${rejected.sent} bytes`);
    }
  }
});

t.test("the rest of a rejected body is read up to a limit", async (t) => {
  const { host } = await startTestServer(t);
  const head = ["POST /rest/v0/srs/s/vdis HTTP/1.1", "connection: keep-alive"];
  const { sent, text } = await sendAfterResponse(host, head, 2 ** 40);
  t.match(text, /^HTTP\/1.1 401 /);
  t.ok(sent < 200 * MiB, `${sent} bytes`);
});
