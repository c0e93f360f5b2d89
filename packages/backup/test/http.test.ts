import { once } from "node:events";
import {
  createServer as createWebServer,
  type RequestListener,
} from "node:http";
import { createServer as createSecureServer } from "node:https";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import t, { type Test } from "tap";
import { FramedStream, type HttpEndpoint } from "../src/index.js";
import { openSources } from "../src/source/open-sources.js";
import type { DiskSource } from "../src/source/disk-source.js";
import type { BlockStream } from "../src/write/block-source.js";
import { HttpClient } from "../src/net/http-client.js";
import { upload } from "../src/target/upload.js";
import type { Image } from "../src/target/image.js";
import { makeLoopbackCertificate } from "@xo-server/certificate";
import { rejectsSafely } from "./rejects-safely.js";

const MIB = 1024 * 1024;
const content = Buffer.alloc(3 * MIB + 100, "content of a disk");
const secret = "?session_id=OpaqueRef:secret";

async function serve(
  t: Test,
  handle: RequestListener,
  tls?: { key: string; cert: string },
): Promise<string> {
  const server = tls
    ? createSecureServer(tls, handle)
    : createWebServer(handle);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return `${tls ? "https" : "http"}://127.0.0.1:${port}/export${secret}`;
}

async function download(
  endpoint: HttpEndpoint,
  signal = new AbortController().signal,
): Promise<Buffer> {
  const source: DiskSource = { type: "stream", format: "raw", ...endpoint };
  const disk = { source, size: content.length };
  const opened = await openSources([disk], signal);
  const parts: Buffer[] = [];
  for await (const { bytes } of (opened.contents[0] as BlockStream).parts(
    signal,
  ))
    parts.push(bytes);
  await opened.close();
  return Buffer.concat(parts);
}

t.test("a download has the headers and all bytes", async (t) => {
  const url = await serve(t, (request, response) => {
    if (request.headers.cookie !== "session=secret") response.statusCode = 401;
    if (request.url !== `/export${secret}`) response.statusCode = 404;
    response.end(content);
  });
  const headers = { cookie: "session=secret" };
  t.ok((await download({ url, headers })).equals(content));
  await rejectsSafely(t, download({ url }), "transfer-failed", /status 401/);
});

/** A Unix socket to a server with TLS. @param isCut its process is killed when it has passed 2 MiB on */
async function listenLocally(t: Test, port: number, { isCut = false } = {}) {
  const socketPath = join(await mkdtemp(join(tmpdir(), "http-")), "socket");
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const framed = new FramedStream(client);
    const to = connect(port, "127.0.0.1");
    for (const one of [framed, to]) one.on("error", () => undefined);
    framed.pipe(to);
    if (!isCut) to.pipe(framed);
    let left = 2 * MIB;
    to.on("data", (bytes: Buffer) => {
      if (!isCut || left <= 0) return;
      framed.write(bytes);
      left -= bytes.length;
      // The kernel sends what was written before it closes the connection.
      if (left <= 0) setImmediate(() => client.end());
    });
  }).listen(socketPath);
  await once(server, "listening");
  t.teardown(async () => {
    server.close();
    await rm(dirname(socketPath), { recursive: true });
  });
  return socketPath;
}

t.test(
  "through a socket, the host of the URL is not connected, and its certificate is verified",
  async (t) => {
    const pair = makeLoopbackCertificate();
    const local = await serve(
      t,
      (request, response) => {
        if (request.headers.host !== "host.invalid:444")
          response.statusCode = 400;
        response.useChunkedEncodingByDefault = false;
        response.setHeader("connection", "close");
        response.end(content);
      },
      pair,
    );
    const port = Number(new URL(local).port);
    const socketPath = await listenLocally(t, port);
    const url = `https://host.invalid:444/export${secret}`;
    const tls = { certificates: pair.cert };
    t.ok((await download({ url, tls, socketPath })).equals(content));
    const other = { certificates: makeLoopbackCertificate().cert };
    const untrusted = download({ url, tls: other, socketPath });
    await rejectsSafely(t, untrusted, "untrusted", /^host\.invalid:444: /);
    const cut = await listenLocally(t, port, { isCut: true });
    await rejectsSafely(
      t,
      download({ url, tls, socketPath: cut }),
      "transfer-failed",
      /closed before its end/,
    );
  },
);

t.test("a download without a length ends with the connection", async (t) => {
  const url = await serve(t, (_, response) => {
    response.useChunkedEncodingByDefault = false;
    response.setHeader("connection", "close");
    response.end(content);
  });
  t.ok((await download({ url })).equals(content));
});

t.test("TLS: certificates, fingerprints, authorities", async (t) => {
  const pair = makeLoopbackCertificate();
  const other = makeLoopbackCertificate();
  const url = await serve(t, (_, response) => response.end(content), pair);
  for (const tls of [
    { certificates: `${other.cert}\n${pair.cert}` },
    { fingerprints: [pair.fingerprint] },
    { authorities: pair.cert },
    { authorities: pair.cert, hostname: "localhost" },
    { insecure: true as const },
  ])
    t.ok((await download({ url, tls })).equals(content));
  for (const tls of [
    undefined,
    { certificates: other.cert },
    { fingerprints: [other.fingerprint] },
    { authorities: other.cert },
    { authorities: pair.cert, hostname: "other.example" },
  ])
    await rejectsSafely(
      t,
      download({ url, ...(tls && { tls }) }),
      "untrusted",
      /127\.0\.0\.1/,
    );
});

const faults: [string, RequestListener, string, RegExp][] = [
  [
    "error 500",
    (_, response) => response.writeHead(500).end("OpaqueRef:secret"),
    "transfer-failed",
    /status 500$/,
  ],
  [
    "a redirect to another host",
    (_, response) =>
      response
        .writeHead(302, { location: `https://host.example/x${secret}` })
        .end(),
    "transfer-failed",
    /status 302 to host\.example$/,
  ],
  [
    "the connection is cut",
    (_, response) => {
      response.writeHead(200, { "content-length": content.length });
      response.write(content.subarray(0, MIB), () => response.destroy());
    },
    "transfer-failed",
    /127/,
  ],
  [
    "less than the disk",
    (_, response) => response.end(content.subarray(1)),
    "source-invalid",
    /ends after/,
  ],
  [
    "more than the disk",
    (_, response) => response.end(Buffer.concat([content, content])),
    "source-invalid",
    /more than/,
  ],
  [
    "an error in the body",
    (_, response) => {
      response.write(content.subarray(0, 2 * MIB));
      response.end("HTTP/1.1 500 Internal Error\r\n\r\n");
    },
    "source-invalid",
    /ends after/,
  ],
  ["no answer", () => undefined, "transfer-failed", /no byte within 100 ms/],
  [
    "a stall",
    (_, response) => response.write(content.subarray(0, MIB)),
    "transfer-failed",
    /no byte within 100 ms/,
  ],
];
for (const [name, handle, code, message] of faults)
  t.test(`a download fails: ${name}`, async (t) => {
    const url = await serve(t, handle);
    // Only the two servers that stay silent may reach the limit.
    const stallMs = message.source.startsWith("no byte") ? 100 : 60_000;
    await rejectsSafely(t, download({ url, stallMs }), code, message);
  });

t.test("wrong URLs are named without their content", async (t) => {
  const refuse = (url: string, message: RegExp, tls?: object) =>
    rejectsSafely(
      t,
      download({ url, ...(tls && { tls }) }),
      "invalid",
      message,
    );
  await refuse(`nothing${secret}`, /not a URL/);
  await refuse(`ftp://host/${secret}`, /ftp:/);
  await refuse(`http://host/${secret}`, /tls/, { insecure: true });
  await rejectsSafely(
    t,
    download({ url: `http://127.0.0.1:1/${secret}` }),
    "transfer-failed",
    /ECONNREFUSED/,
  );
});

t.test("a download is cancelled", async (t) => {
  const controller = new AbortController();
  const url = await serve(t, (_, response) => {
    response.write(content.subarray(0, MIB), () => controller.abort());
  });
  await t.rejects(download({ url }, controller.signal), {
    name: "AbortError",
  });
});

function imageOf(bytes: Buffer): Image {
  return {
    length: bytes.length,
    async *content() {
      for (let at = 0; at < bytes.length; at += 100_000)
        yield bytes.subarray(at, at + 100_000);
    },
  };
}

t.test("an upload has its length, and all bytes", async (t) => {
  const received: Buffer[] = [];
  const lengths: unknown[] = [];
  const url = await serve(t, (request, response) => {
    lengths.push(request.method, request.headers["content-length"]);
    // As XAPI: the answer comes before the body.
    response.writeHead(200, { connection: "close" }).flushHeaders();
    request.on("data", (bytes: Buffer) => received.push(bytes));
    request.on("end", () => response.end());
  });
  const progress: object[] = [];
  const result = await upload(
    imageOf(content),
    { type: "upload", format: "raw", url },
    { onProgress: (figures) => progress.push({ ...figures }) },
  );
  t.ok(Buffer.concat(received).equals(content));
  t.same(lengths, ["PUT", String(content.length)]);
  const { length } = content;
  t.same(progress[0], { done: 0, total: length, written: 0 });
  t.same(result, { done: length, total: length, written: length });
});

t.test("an upload fails", async (t) => {
  const image = imageOf(Buffer.alloc(40 * MIB));
  let stallMs = 60_000;
  const send = async (handle: RequestListener, broken?: Image) =>
    upload(broken ?? image, {
      type: "upload",
      format: "raw",
      url: await serve(t, handle),
      stallMs,
    });
  await rejectsSafely(
    t,
    send((_, response) => response.writeHead(403).end()),
    "transfer-failed",
    /status 403|closed|EPIPE|ECONNRESET/,
  );
  await rejectsSafely(
    t,
    send((request) => request.destroy()),
    "transfer-failed",
    /127/,
  );
  stallMs = 200;
  await rejectsSafely(
    t,
    send(() => undefined),
    "transfer-failed",
    /no byte within 200 ms/,
  );
  stallMs = 60_000;
  let received = 0;
  const broken: Image = {
    length: 10 * MIB,
    async *content() {
      yield Buffer.alloc(MIB);
      throw Object.assign(new Error("damaged"), { code: "damaged" });
    },
  };
  await t.rejects(
    send((request) => {
      request.on("data", (bytes: Buffer) => (received += bytes.length));
    }, broken),
    /damaged/,
  );
  t.ok(received < 10 * MIB, "a part of a disk has not its length");
});

t.test(
  "a repeatable request continues on a new connection if the server has closed an unused one",
  async (t) => {
    const requests = new WeakMap<object, number>();
    let connections = 0;
    const url = new URL(
      await serve(t, (request, response) => {
        const count = requests.get(request.socket) ?? 0;
        requests.set(request.socket, count + 1);
        if (count === 0) connections++;
        // As if it had closed the connection while the request was on its way.
        if (count > 0) request.socket.destroy();
        else request.resume().on("end", () => response.end("answer"));
      }),
    );
    const client = new HttpClient({ url, keepAlive: true });
    t.teardown(() => client.close());
    const send = async (isRepeatable: boolean) => {
      const headers = { "content-length": "4" };
      const body = [Buffer.from("call")];
      const request = {
        method: "POST",
        path: "/",
        headers,
        body,
        isRepeatable,
      };
      const response = await client.send(request);
      let text = "";
      for await (const bytes of client.read(response)) text += String(bytes);
      return text;
    };
    for (let i = 0; i < 3; i++) t.equal(await send(true), "answer");
    t.equal(connections, 3);
    await rejectsSafely(t, send(false), "transfer-failed", /hang up|closed/);
  },
);
