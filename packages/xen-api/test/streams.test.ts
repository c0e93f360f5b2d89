import { once } from "node:events";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import t from "tap";
import { FakeClock, until } from "./fake-clock.js";
import { SESSION } from "./fake-xapi.js";
import { ownAddress } from "./loopback.js";
import { startHandlers, OK, clientBeside } from "./stream-handlers.js";

t.test(
  "an export sends the session as a cookie and the task in the query, and streams the body",
  async (t) => {
    const handlers = await startHandlers(t, (_head, socket) =>
      socket.end(`${OK}the disk`),
    );
    const xapi = await clientBeside(t, handlers);
    const { body, ...answer } = await xapi.getStream({
      path: "/export",
      query: { uuid: "a b&c" },
      task: "OpaqueRef:t",
      host: ownAddress(1),
    });
    t.match(answer, {
      status: 200,
      task: "OpaqueRef:task",
      headers: { "content-type": "application/octet-stream" },
    });
    t.equal(await text(body), "the disk");
    const [head = ""] = handlers.heads;
    t.match(
      head,
      /^GET \/export\?uuid=a\+b%26c&task_id=OpaqueRef%3At HTTP\/1\.1/,
    );
    t.match(head.toLowerCase(), `cookie: session_id=${SESSION}`.toLowerCase());
    t.notMatch(head.split("\r\n")[0], SESSION);
  },
);

t.test("an answer that has not begun within two minutes is lost", async (t) => {
  const handlers = await startHandlers(t, () => undefined);
  const clock = new FakeClock();
  const xapi = await clientBeside(t, handlers, { clock });
  const stream = { path: "/export", query: { uuid: "a" }, host: ownAddress(1) };
  const ways: (() => Promise<unknown>)[] = [
    () => xapi.getStream(stream),
    () => xapi.connectStream(stream),
  ];
  for (const open of ways) {
    const asked = handlers.heads.length;
    const failed = t.rejects(open(), {
      code: "CALL_TIMEOUT",
      message: "no response to /export within 120000 ms",
    });
    await until(() => handlers.heads.length > asked);
    const socket = handlers.sockets.at(-1)!;
    const closed = once(socket, "close");
    clock.advance(119_999);
    t.notOk(socket.destroyed, "not before");
    clock.advance(1);
    await failed;
    await closed;
  }
});

t.test("an answer that has begun is not limited", async (t) => {
  const handlers = await startHandlers(t, (_head, socket) => {
    socket.write(OK);
  });
  const clock = new FakeClock();
  const xapi = await clientBeside(t, handlers, { clock });
  const { body } = await xapi.getStream({
    path: "/export",
    host: ownAddress(1),
  });
  clock.advance(600_000);
  handlers.sockets.at(-1)!.end("late");
  t.equal(await text(body), "late");
});

t.test(
  "an export whose connection breaks is not complete, though its length is not known",
  async (t) => {
    const handlers = await startHandlers(t, (_head, socket) => {
      socket.write(`${OK}the first half`);
    });
    const xapi = await clientBeside(t, handlers);
    const { body } = await xapi.getStream({
      path: "/export",
      host: ownAddress(1),
    });
    await once(body, "readable");
    const read = text(body);
    handlers.sockets.at(-1)!.resetAndDestroy();
    await t.rejects(read, { code: "CONNECTION_LOST" });
  },
);

t.test("another process gets address and session of a handler", async (t) => {
  const handlers = await startHandlers(t, () => undefined);
  const xapi = await clientBeside(t, handlers);
  const target = await xapi.streamTarget({
    path: "/export_raw_vdi",
    query: { vdi: "OpaqueRef:1" },
    host: ownAddress(1),
  });
  t.same(target, {
    url: `http://${ownAddress(1)}:${handlers.port}/export_raw_vdi?vdi=OpaqueRef%3A1`,
    headers: { Cookie: `session_id=${SESSION}` },
  });
  t.same(handlers.heads, [], "nothing was sent");
});

t.test("a slow reader applies backpressure to the export", async (t) => {
  const block = Buffer.alloc(1024 * 1024);
  let isHeldBack = false;
  const handlers = await startHandlers(t, (_head, socket) => {
    socket.write(OK);
    const fill = () => {
      for (let i = 0; i < 200; i++) {
        if (socket.write(block)) continue;
        isHeldBack = true;
        socket.once("drain", () => socket.end());
        return;
      }
    };
    fill();
  });
  const xapi = await clientBeside(t, handlers);
  const { body } = await xapi.getStream({
    path: "/export",
    host: ownAddress(1),
  });
  await until(() => isHeldBack);
  body.destroy();
});

t.test(
  "a redirect to the member with the SR is followed with session and query",
  async (t) => {
    const coordinator = await startHandlers(t, (_head, socket) =>
      socket.end(
        `HTTP/1.1 302 Found\r\nLocation: http://${ownAddress(2)}:${socket.localPort}/export?uuid=x\r\nConnection: close\r\n\r\n`,
      ),
    );
    const member = await startHandlers(
      t,
      (_head, socket) => socket.end(`${OK}here`),
      ownAddress(2),
      coordinator.port,
    );
    const xapi = await clientBeside(t, coordinator);
    const { body } = await xapi.getStream({
      path: "/export",
      query: { uuid: "x" },
      host: ownAddress(1),
    });
    t.equal(await text(body), "here");
    t.match(
      member.heads[0]?.toLowerCase(),
      `session_id=${SESSION}`.toLowerCase(),
    );
  },
);

t.test(
  "a redirect without a port uses the port of the first member",
  async (t) => {
    const coordinator = await startHandlers(t, (_head, socket) =>
      socket.end(
        `HTTP/1.1 302 Found\r\nLocation: https://${ownAddress(2)}/export\r\n\r\n`,
      ),
    );
    const member = await startHandlers(
      t,
      (_head, socket) => socket.end(`${OK}here`),
      ownAddress(2),
      coordinator.port,
    );
    const xapi = await clientBeside(t, coordinator);
    const { body } = await xapi.getStream({
      path: "/export",
      host: ownAddress(1),
    });
    t.equal(await text(body), "here");
    t.equal(member.heads.length, 1);
  },
);

t.test(
  "a redirect to another port, or to an address that is not a host of the pool, is not followed",
  async (t) => {
    let location = "";
    const handlers = await startHandlers(t, (_head, socket) =>
      socket.end(
        `HTTP/1.1 302 Found\r\nLocation: ${location}\r\nConnection: close\r\n\r\n`,
      ),
    );
    const trap = await startHandlers(t, () => undefined, ownAddress(2));
    const otherHost = await startHandlers(
      t,
      () => undefined,
      ownAddress(3),
      handlers.port,
    );
    const xapi = await clientBeside(t, handlers);
    for (location of [
      `http://${ownAddress(2)}:${trap.port}/x`,
      `http://${ownAddress(3)}/x`,
    ]) {
      const stream = { path: "/x", host: ownAddress(1) };
      await t.rejects(xapi.getStream(stream), { code: "BAD_ANSWER" });
      await t.rejects(xapi.putStream(Readable.from(["secret"]), stream), {
        code: "BAD_ANSWER",
      });
    }
    t.same([...trap.heads, ...otherHost.heads], []);
  },
);

t.test("a redirect loop ends", async (t) => {
  const handlers = await startHandlers(t, (_head, socket) =>
    socket.end(
      `HTTP/1.1 302 Found\r\nLocation: http://${ownAddress(1)}:${socket.localPort}/x\r\n\r\n`,
    ),
  );
  const xapi = await clientBeside(t, handlers);
  await t.rejects(xapi.getStream({ path: "/x", host: ownAddress(1) }), {
    code: "HTTP_STATUS",
    data: { status: 302 },
  });
  t.equal(handlers.heads.length, 4);
});

t.test("an HTTP error is a typed error", async (t) => {
  const handlers = await startHandlers(t, (_head, socket) =>
    socket.end("HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n"),
  );
  const xapi = await clientBeside(t, handlers);
  await t.rejects(xapi.getStream({ path: "/x", host: ownAddress(1) }), {
    code: "HTTP_STATUS",
    data: { status: 404 },
  });
  await t.rejects(
    xapi.putStream(Readable.from(["x"]), { path: "/x", host: ownAddress(1) }),
    { code: "HTTP_STATUS", data: { status: 404 } },
  );
  await t.rejects(
    xapi.connectStream({ path: "/console", host: ownAddress(1) }),
    {
      code: "HTTP_STATUS",
      data: { status: 404 },
    },
  );
});

t.test("aborting ends a stream", async (t) => {
  const handlers = await startHandlers(t, (head, socket) => {
    if (!head.includes("/silent")) socket.write(OK);
  });
  const xapi = await clientBeside(t, handlers);
  const caller = new AbortController();
  const { signal } = caller;
  const get = xapi.getStream({ path: "/silent", host: ownAddress(1), signal });
  const put = xapi.putStream(new Readable({ read: () => undefined }), {
    path: "/import",
    contentLength: 9,
    host: ownAddress(1),
    signal,
  });
  const outcome = Promise.all([
    t.rejects(get, { code: "ABORTED" }),
    t.rejects(put, { code: "ABORTED" }),
  ]);
  await until(() => handlers.heads.length === 2);
  caller.abort();
  await outcome;
});

t.test(
  "a console is a bidirectional stream after the 200, including bytes received with it",
  async (t) => {
    const handlers = await startHandlers(t, (_head, socket) => {
      socket.write(
        "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nCache-Control: no-cache, no-store\r\n\r\nRFB 003.008\n",
      );
      socket.on("data", (chunk) => {
        if (chunk.toString() === "ping") socket.write("pong");
      });
    });
    const xapi = await clientBeside(t, handlers);
    const console = await xapi.connectStream({
      path: "/console",
      query: { ref: "OpaqueRef:c" },
      host: ownAddress(1),
    });
    const [greeting] = (await once(console, "data")) as [Buffer];
    t.equal(greeting.toString(), "RFB 003.008\n");
    console.write("ping");
    const [answer] = (await once(console, "data")) as [Buffer];
    t.equal(answer.toString(), "pong");
    console.destroy();
    t.match(
      handlers.heads[0],
      /^CONNECT \/console\?ref=OpaqueRef%3Ac HTTP\/1\.1/,
    );
  },
);
