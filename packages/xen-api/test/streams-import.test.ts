import { Readable } from "node:stream";
import t from "tap";
import { ownAddress } from "./loopback.js";
import { startHandlers, OK, clientBeside } from "./stream-handlers.js";

t.test(
  "an import of known length, with XAPI's 200 before the body",
  async (t) => {
    const handlers = await startHandlers(t, (_head, socket) =>
      socket.write(OK),
    );
    const xapi = await clientBeside(t, handlers);
    const answer = await xapi.putStream(
      Readable.from([Buffer.from("abc"), Buffer.from("def")]),
      { path: "/import", contentLength: 6, host: ownAddress(1) },
    );
    t.match(answer, { status: 200, task: "OpaqueRef:task" });
    t.same(handlers.bodies, ["abcdef"]);
    t.match(handlers.heads[0], /^PUT \/import HTTP/);
    t.notMatch(handlers.heads[0]?.toLowerCase(), "chunked");
  },
);

t.test(
  "an import of unknown length is ended by the connection, not by chunks",
  async (t) => {
    const handlers = await startHandlers(t, (_head, socket) =>
      socket.write(OK),
    );
    const xapi = await clientBeside(t, handlers);
    await xapi.putStream(
      Readable.from([Buffer.from("abc"), Buffer.from("def")]),
      { path: "/import", host: ownAddress(1) },
    );
    t.same(handlers.bodies, ["abcdef"]);
    t.notMatch(handlers.heads[0]?.toLowerCase(), /chunked|content-length/);
  },
);

t.test("an import is redirected before its body is read", async (t) => {
  const coordinator = await startHandlers(t, (_head, socket) =>
    socket.end(
      `HTTP/1.1 302 Found\r\nLocation: http://${ownAddress(2)}/import_raw_vdi\r\n\r\n`,
    ),
  );
  const member = await startHandlers(
    t,
    (_head, socket) => socket.write(OK),
    ownAddress(2),
    coordinator.port,
  );
  const xapi = await clientBeside(t, coordinator);
  await xapi.putStream(Readable.from([Buffer.from("disk")]), {
    path: "/import_raw_vdi",
    contentLength: 4,
    host: ownAddress(1),
  });
  t.same(member.bodies, ["disk"]);
});

t.test("a body of another size than Content-Length fails", async (t) => {
  const handlers = await startHandlers(t, (_head, socket) => socket.write(OK));
  const xapi = await clientBeside(t, handlers);
  for (const body of ["ab", "abcdef"])
    await t.rejects(
      xapi.putStream(Readable.from([Buffer.from(body)]), {
        path: "/import",
        contentLength: 4,
        host: ownAddress(1),
      }),
      { code: "INVALID_PARAMETERS" },
    );
});

t.test("an error of the body fails the import", async (t) => {
  const handlers = await startHandlers(t, (_head, socket) => socket.write(OK));
  const xapi = await clientBeside(t, handlers);
  const body = new Readable({
    read() {
      this.destroy(new Error("disk unplugged"));
    },
  });
  await t.rejects(
    xapi.putStream(body, {
      path: "/import",
      contentLength: 4,
      host: ownAddress(1),
    }),
    { message: /unplugged/ },
  );
});

t.test(
  "a connection that is reset after the whole body was sent is not an error: the task has the outcome",
  async (t) => {
    // As XAPI: 200 first, then it reads, but not the padding at the end.
    const handlers = await startHandlers(t, (_head, socket) => {
      socket.write(OK);
      socket.once("data", () => {
        // A reset within the callback of a read makes Node.js 20 loop forever at its end.
        setImmediate(() => socket.resetAndDestroy());
      });
    });
    const xapi = await clientBeside(t, handlers);
    const body = Readable.from([Buffer.alloc(1024)]);
    const answer = await xapi.putStream(body, {
      path: "/import",
      contentLength: 1024,
      host: ownAddress(1),
    });
    t.match(answer, { status: 200, task: "OpaqueRef:task" });
  },
);

t.test(
  "a connection that is reset before the body was sent is lost, as a typed error",
  async (t) => {
    const handlers = await startHandlers(t, (_head, socket) => {
      socket.write(OK, () => {
        socket.resetAndDestroy();
      });
    });
    const xapi = await clientBeside(t, handlers);
    let left = 64;
    const body = new Readable({
      read() {
        this.push(left-- > 0 ? Buffer.alloc(1024 * 1024) : null);
      },
    });
    await t.rejects(
      xapi.putStream(body, {
        path: "/import",
        contentLength: 64 * 1024 * 1024,
        host: ownAddress(1),
      }),
      { name: "XoError", code: "CONNECTION_LOST" },
    );
    t.ok(body.destroyed);
    t.equal(body.errored, null, "the body has no error of its own");
  },
);

t.test("a handler that closes the connection during an import", async (t) => {
  const handlers = await startHandlers(t, (_head, socket) => {
    socket.write(OK, () => socket.destroy());
  });
  const xapi = await clientBeside(t, handlers);
  const body = new Readable({ read: () => undefined });
  await t.rejects(
    xapi.putStream(body, {
      path: "/import",
      contentLength: 9,
      host: ownAddress(1),
    }),
    { code: "CONNECTION_LOST" },
  );
});
