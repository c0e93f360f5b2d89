import { connect, type Socket } from "node:net";
import t from "tap";
import { ByteReader } from "../src/console/byte-reader.js";
import { startServer, type TestServer } from "./transfer-client.js";

interface Open {
  readonly socket: Socket;
  readonly reader: ByteReader;
  readonly head: string;
}

/** Opens a console as clients do: the bytes of a CONNECT with a path. */
async function open(
  server: TestServer,
  query: string,
  headers = "",
): Promise<Open> {
  const socket = connect(server.port, "127.0.0.1");
  socket.on("error", () => socket.destroy());
  socket.write(`CONNECT /console?${query} HTTP/1.0\r\n${headers}\r\n`);
  const reader = new ByteReader(socket);
  let head = "";
  while (!head.endsWith("\r\n\r\n")) {
    const byte = await reader.read(1);
    if (byte === undefined) break;
    head += byte.toString("latin1");
  }
  return { socket, reader, head };
}

async function guestOf(server: TestServer, state: string) {
  const vms = (await server.call("VM.get_all_records")) as Record<
    string,
    {
      power_state: string;
      is_control_domain: boolean;
      is_a_template: boolean;
      consoles: string[];
      uuid: string;
      name_label: string;
    }
  >;
  const [ref, record] = Object.entries(vms).find(
    ([, vm]) =>
      vm.power_state === state && !vm.is_control_domain && !vm.is_a_template,
  )!;
  const consoles = (await server.call("console.get_all_records")) as Record<
    string,
    { protocol: string }
  >;
  const of = (protocol: string) =>
    record.consoles.find(
      (console) => consoles[console]!.protocol === protocol,
    )!;
  return { ref, record, rfb: of("rfb"), vt100: of("vt100") };
}

t.test(
  "an RFB client sees the picture change when a key is pressed",
  async (t) => {
    const server = await startServer();
    t.teardown(() => server.pool.stop());
    const guest = await guestOf(server, "Running");
    const { socket, reader, head } = await open(
      server,
      `ref=${guest.rfb}&session_id=${server.session}`,
    );
    t.teardown(() => socket.destroy());
    t.equal(
      head,
      "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nCache-Control: no-cache, no-store\r\n\r\n",
    );

    t.equal((await reader.read(12))!.toString(), "RFB 003.008\n");
    socket.write("RFB 003.008\n");
    t.strictSame(
      [...(await reader.read(2))!],
      [1, 1],
      "one kind of security: none",
    );
    socket.write(Buffer.from([1]));
    t.equal((await reader.read(4))!.readUInt32BE(), 0);
    socket.write(Buffer.from([1]));
    const init = (await reader.read(24))!;
    const [width, height] = [init.readUInt16BE(0), init.readUInt16BE(2)];
    t.equal(
      (await reader.read(init.readUInt32BE(20)))!.toString(),
      guest.record.name_label,
    );

    socket.write(Buffer.from([2, 0, 0, 1, 0, 0, 0, 0]));
    const request = (incremental: number) => {
      const bytes = Buffer.from([3, incremental, 0, 0, 0, 0, 0, 0, 0, 0]);
      bytes.writeUInt16BE(width, 6);
      bytes.writeUInt16BE(height, 8);
      return bytes;
    };
    const update = async () => {
      const rectangles = [];
      const count = (await reader.read(4))!.readUInt16BE(2);
      for (let i = 0; i < count; i++) {
        const place = (await reader.read(12))!;
        const [w, h] = [place.readUInt16BE(4), place.readUInt16BE(6)];
        t.equal(place.readInt32BE(8), 0, "raw");
        rectangles.push({
          y: place.readUInt16BE(2),
          w,
          h,
          pixels: (await reader.read(w * h * 4))!,
        });
      }
      return rectangles;
    };
    socket.write(request(0));
    const [whole] = await update();
    t.equal(whole!.w * whole!.h, width * height);
    t.ok(new Set(whole!.pixels).size > 3, "not one colour");

    socket.write(Buffer.from([4, 1, 0, 0, 0, 0, 0, 0x61]));
    socket.write(Buffer.from([5, 0, 0, 100, 0, 100]));
    socket.write(request(1));
    const changes = await update();
    t.ok(
      changes.length > 0 && changes.every(({ w, h }) => w * h < width * height),
      "only what changed",
    );
  },
);

t.test("a client of RFB 3.3 with 16 bits a pixel is served too", async (t) => {
  const server = await startServer();
  t.teardown(() => server.pool.stop());
  const guest = await guestOf(server, "Running");
  const { socket, reader } = await open(
    server,
    `uuid=${guest.record.uuid}&session_id=${server.session}`,
  );
  t.teardown(() => socket.destroy());
  await reader.read(12);
  socket.write("RFB 003.003\n");
  t.equal((await reader.read(4))!.readUInt32BE(), 1);
  socket.write(Buffer.from([0]));
  const init = (await reader.read(24))!;
  await reader.skip(init.readUInt32BE(20));
  const format = Buffer.alloc(20);
  format.set([16, 16, 0, 1, 0, 31, 0, 63, 0, 31, 11, 5, 0], 4);
  socket.write(format);
  socket.write(Buffer.from([3, 0, 0, 0, 0, 0, 2, 128, 1, 144]));
  t.ok(await reader.skip(4 + 12 + 640 * 400 * 2));
});

t.test("a terminal greets and echoes", async (t) => {
  const server = await startServer();
  t.teardown(() => server.pool.stop());
  const guest = await guestOf(server, "Running");
  const { socket, reader } = await open(
    server,
    `ref=${guest.vt100}`,
    `Cookie: session_id=${server.session}\r\n`,
  );
  t.teardown(() => socket.destroy());
  const greeting = `\r\n${guest.record.name_label} ttyS0\r\n\r\n${guest.record.name_label} login: `;
  t.equal((await reader.read(greeting.length))!.toString(), greeting);
  socket.write("root\r");
  const echo = "root\r\nLogin incorrect\r\n";
  t.equal((await reader.read(echo.length))!.toString(), echo);
});

t.test("the console ends with the VM's domain", async (t) => {
  const server = await startServer();
  t.teardown(() => server.pool.stop());
  const guest = await guestOf(server, "Running");
  const { reader } = await open(
    server,
    `ref=${guest.rfb}&session_id=${server.session}`,
  );
  await reader.read(12);
  await server.call("VM.hard_shutdown", guest.ref);
  await t.rejects(
    (async () => {
      if ((await reader.read(1)) === undefined) throw new Error("ended");
    })(),
  );
});

t.test(
  "an object without a console is a 500 with the recorded page",
  async (t) => {
    const server = await startServer();
    t.teardown(() => server.pool.stop());
    const halted = await guestOf(server, "Halted");
    const session = `session_id=${server.session}`;
    for (const query of [
      session,
      `ref=OpaqueRef:x&${session}`,
      `ref=${halted.ref}&${session}`,
    ]) {
      const { head, reader, socket } = await open(server, query);
      t.match(head, /^HTTP\/1\.[01] 500 Internal Error\r\n/, query);
      const length = Number(/content-length: (\d+)/.exec(head)![1]);
      t.match(
        (await reader.read(length))!.toString(),
        /Additional information <\/h1>Console\.Failure</,
      );
      socket.destroy();
    }
    const { head, socket } = await open(server, "ref=OpaqueRef:x");
    t.match(head, /^HTTP\/1\.[01] 401 Unauthorised\r\n/);
    socket.destroy();
  },
);

t.test("one connection per console where the pool requires it", async (t) => {
  const server = await startServer();
  t.teardown(() => server.pool.stop());
  const guest = await guestOf(server, "Running");
  const [pool] = (await server.call("pool.get_all")) as [string];
  await server.call("pool.set_limit_console_sessions", pool, true);
  const first = await open(
    server,
    `ref=${guest.rfb}&session_id=${server.session}`,
  );
  t.match(first.head, / 200 OK/);
  const second = await open(
    server,
    `ref=${guest.rfb}&session_id=${server.session}`,
  );
  t.match(second.head, /^HTTP\/1\.0 503 Connection Limit Exceeded\r\n/);
  first.socket.destroy();
  second.socket.destroy();
});
