import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import type { Test } from "tap";

export interface FakeScreen {
  readonly width: number;
  readonly height: number;
  /** 0xRRGGBB. */
  readonly colourAt: (x: number, y: number) => number;
}

export interface FakeRfbOptions {
  readonly screen: FakeScreen;
  readonly version?: string;
  /** Security types that it offers. */
  readonly security?: readonly number[];
  /** The screen has this size first. */
  readonly oldSize?: readonly [number, number];
  /** Sends nothing after the handshake. */
  readonly isSilent?: boolean;
  /** Rectangles, each with a kind, that it sends without an end instead of the picture. */
  readonly flood?: readonly (readonly [
    width: number,
    height: number,
    kind: number,
  ])[];
  readonly status?: string;
}

const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const uint16 = (...values: number[]) => {
  const bytes = Buffer.alloc(2 * values.length);
  values.forEach((value, i) => bytes.writeUInt16BE(value, 2 * i));
  return bytes;
};

/** A screen behind CONNECT, as XAPI offers consoles. @returns its URL */
export async function startRfbServer(
  t: Test,
  options: FakeRfbOptions,
): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    // A client that gives up ends the conversation.
    void serve(socket, options).catch(() => undefined);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}/console?ref=OpaqueRef:1`;
}

async function serve(
  socket: Socket,
  {
    screen,
    version = "003.008",
    security = [1],
    oldSize,
    isSilent = false,
    flood,
    status = "200 OK",
  }: FakeRfbOptions,
): Promise<void> {
  const read = reader(socket);
  while (!(await read.line()).startsWith("Cookie:"));
  await read.line();
  socket.write(`HTTP/1.1 ${status}\r\nServer: fake\r\n\r\nRFB ${version}\n`);
  const minor = Number((await read.bytes(12)).toString().slice(8, 11));
  if (minor < 7) socket.write(uint32(security[0]!));
  else {
    socket.write(Buffer.from([security.length, ...security]));
    await read.bytes(1);
    if (minor >= 8) socket.write(uint32(0));
  }
  await read.bytes(1);
  const [width, height] = oldSize ?? [screen.width, screen.height];
  const name = Buffer.from("guest");
  const head = [uint16(width, height), Buffer.alloc(16)];
  socket.write(Buffer.concat([...head, uint32(name.length), name]));
  await read.bytes(20);
  await read.bytes(12);
  await read.bytes(10);
  if (isSilent) return;
  if (flood !== undefined) return sendForever(socket, rectangles(flood));
  // A bell and a text come before the picture.
  socket.write(Buffer.from([2, 3, 0, 0, 0, 0, 0, 0, 2, 65, 66]));
  if (oldSize !== undefined) {
    const resized = uint16(0, 0, screen.width, screen.height);
    const kind = Buffer.alloc(4);
    kind.writeInt32BE(-223);
    socket.write(Buffer.concat([Buffer.from([0, 0, 0, 1]), resized, kind]));
    await read.bytes(10);
  }
  const middle = Math.floor(screen.height / 2);
  socket.write(update(screen, 0, middle));
  await read.bytes(10);
  socket.write(update(screen, middle, screen.height - middle));
}

/** An update without pixels. */
function rectangles(
  all: readonly (readonly [width: number, height: number, kind: number])[],
): Buffer {
  const each = all.map(([width, height, kind]) => {
    const encoding = Buffer.alloc(4);
    encoding.writeInt32BE(kind);
    return Buffer.concat([uint16(0, 0, width, height), encoding]);
  });
  return Buffer.concat([Buffer.from([0, 0]), uint16(each.length), ...each]);
}

async function sendForever(socket: Socket, bytes: Buffer): Promise<void> {
  const length = bytes.length * Math.ceil(2 ** 16 / bytes.length);
  const block = Buffer.alloc(length, bytes);
  while (!socket.destroyed) {
    socket.write(block);
    // Without waiting nothing else in this process would run.
    await new Promise(setImmediate);
    if (socket.writableNeedDrain) await once(socket, "drain");
  }
}

/** Some rows of the screen. */
function update(
  { width, colourAt }: FakeScreen,
  y: number,
  height: number,
): Buffer {
  const pixels = Buffer.alloc(4 * width * height);
  for (let row = 0; row < height; row++)
    for (let x = 0; x < width; x++)
      pixels.writeUInt32LE(colourAt(x, y + row), 4 * (row * width + x));
  const head = [Buffer.from([0, 0, 0, 1]), uint16(0, y, width, height)];
  return Buffer.concat([...head, uint32(0), pixels]);
}

function reader(socket: Socket) {
  const iterator = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let queue = Buffer.alloc(0);
  const more = async () => {
    const next = await iterator.next();
    if (next.done === true) throw new Error("the client has disconnected");
    queue = Buffer.concat([queue, next.value]);
  };
  const take = (length: number) => {
    const taken = queue.subarray(0, length);
    queue = queue.subarray(length);
    return taken;
  };
  return {
    async bytes(length: number): Promise<Buffer> {
      while (queue.length < length) await more();
      return take(length);
    },
    async line(): Promise<string> {
      while (!queue.includes("\r\n")) await more();
      return take(queue.indexOf("\r\n") + 2).toString();
    },
  };
}
