import { connect, type Socket } from "node:net";
import t, { type Test } from "tap";
import { ByteReader } from "../src/console/byte-reader.js";
import { systemClock } from "../src/clock.js";
import { guestOf, startSide } from "./support/two-pools.js";

/** No frame ever comes by itself. */
const still = {
  ...systemClock,
  setTimeout: (callback: () => void, ms: number) =>
    ms === 200 ? undefined : systemClock.setTimeout(callback, ms),
};

interface Update {
  readonly y: number;
  readonly pixels: Buffer;
}

/** Connects, shakes hands, and asks for pictures. */
async function watch(t: Test, otherConfig: Record<string, string> = {}) {
  const side = await startSide(t, { clock: still });
  const { db, client, pool } = side;
  const vm = guestOf(side, "Running");
  db.update("VM", vm, { other_config: otherConfig });
  const console = (db.get("VM", vm)["consoles"] as string[]).find(
    (ref) => db.get("console", ref)["protocol"] === "rfb",
  )!;
  const { port, hostname } = new URL(pool.url);
  const socket = connect(Number(port), hostname);
  t.teardown(() => socket.destroy());
  socket.write(
    `CONNECT /console?ref=${console}&session_id=${client.session} HTTP/1.0\r\n\r\n`,
  );
  const reader = new ByteReader(socket);
  let head = "";
  while (!head.endsWith("\r\n\r\n"))
    head += (await reader.read(1))!.toString("latin1");
  await reader.read(12);
  socket.write("RFB 003.008\n");
  await reader.read(2);
  socket.write(Buffer.from([1]));
  await reader.read(4);
  socket.write(Buffer.from([1]));
  const init = (await reader.read(24))!;
  await reader.read(init.readUInt32BE(20));
  return { socket, reader, vm, side };
}

function request(socket: Socket, incremental: 0 | 1): void {
  const bytes = Buffer.from([3, incremental, 0, 0, 0, 0, 0, 0, 0, 0]);
  bytes.writeUInt16BE(640, 6);
  bytes.writeUInt16BE(400, 8);
  socket.write(bytes);
}

async function update(reader: ByteReader): Promise<readonly Update[]> {
  const count = (await reader.read(4))!.readUInt16BE(2);
  const rectangles: Update[] = [];
  for (let i = 0; i < count; i++) {
    const place = (await reader.read(12))!;
    const size = place.readUInt16BE(4) * place.readUInt16BE(6) * 4;
    const pixels = (await reader.read(size))!;
    rectangles.push({ y: place.readUInt16BE(2), pixels });
  }
  return rectangles;
}

function key(symbol: number): Buffer {
  const bytes = Buffer.from([4, 1, 0, 0, 0, 0, 0, 0]);
  bytes.writeUInt32BE(symbol, 4);
  return bytes;
}

t.test("a key press is shown immediately, before the next frame", async (t) => {
  const { socket, reader } = await watch(t);
  request(socket, 0);
  const [whole] = await update(reader);
  const rowBefore = whole!.pixels.subarray(640 * 384 * 4);
  request(socket, 1);
  socket.write(key(0x61));
  const [row] = await update(reader);
  t.equal(row!.y, 384);
  t.notOk(row!.pixels.equals(rowBefore));
  socket.write(key(0x62));
  request(socket, 1);
  const [again] = await update(reader);
  t.notOk(again!.pixels.equals(row!.pixels), "pressed before it was asked for");
});

t.test("the pointer shows a value immediately", async (t) => {
  const { socket, reader } = await watch(t);
  request(socket, 1);
  socket.write(Buffer.from([5, 0, 0, 100, 0, 100]));
  const rectangles = await update(reader);
  t.ok(rectangles.some(({ y }) => y === 92));
});

t.test(
  "a screen that is to be fast is sent whole at every request",
  async (t) => {
    const { socket, reader } = await watch(t, { "sim:console": "fast" });
    for (let i = 0; i < 20; i++) request(socket, 1);
    let bytes = 0;
    for (let i = 0; i < 20; i++)
      for (const { pixels } of await update(reader)) bytes += pixels.length;
    t.equal(bytes, 20 * 640 * 400 * 4);
  },
);

t.test("the console ends when the VM stops", async (t) => {
  const { socket, vm, side } = await watch(t);
  const closed = new Promise((resolve) => socket.on("close", resolve));
  await side.client.call("VM.hard_shutdown", vm);
  await closed;
  t.pass();
});
