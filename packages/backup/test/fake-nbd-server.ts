import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { TLSSocket, createSecureContext } from "node:tls";
import type { Test } from "tap";
import { SocketReader } from "../src/net/socket-reader.js";

/** What a test makes of one read, as bytes on the wire. */
export type ReadReply = (request: {
  readonly cookie: bigint;
  readonly offset: number;
  readonly length: number;
  /** How many requests the server has received. */
  readonly count: number;
}) => Buffer | "none" | "close";

export interface FakeNbdOptions {
  readonly content: Buffer;
  /** Whether NBD_OPT_GO and structured replies are known; default false, as the server of XAPI. */
  readonly isModern?: boolean;
  readonly tls?: { key: string; cert: string };
  readonly reply?: ReadReply;
  /** Sent instead of the greeting. */
  readonly greeting?: Buffer;
  /** Connections that are accepted at the same time. */
  readonly maxConnections?: number;
}

export interface FakeNbdServer {
  readonly address: string;
  readonly port: number;
  readonly requests: number;
  /** Bytes that were requested. */
  readonly bytes: number;
  readonly names: string[];
  close(): void;
}

const FLAGS = 3; // has flags, read only

/** A small NBD server that a test can make fail. It is written apart from the client. */
export async function startFakeNbd(
  t: Test,
  options: FakeNbdOptions,
): Promise<FakeNbdServer> {
  const sockets = new Set<Socket>();
  const state = { requests: 0, bytes: 0, names: [] as string[] };
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    if (sockets.size >= (options.maxConnections ?? Infinity)) {
      socket.destroy();
      return;
    }
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    serve(socket, options, state).catch(() => socket.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  t.teardown(close);
  return {
    address: "127.0.0.1",
    port: (server.address() as AddressInfo).port,
    get requests() {
      return state.requests;
    },
    get bytes() {
      return state.bytes;
    },
    names: state.names,
    close,
  };
}

async function serve(
  plain: Socket,
  options: FakeNbdOptions,
  state: { requests: number; bytes: number; names: string[] },
): Promise<void> {
  let socket: Socket = plain;
  let reader = new SocketReader(plain);
  plain.write(options.greeting ?? Buffer.from("NBDMAGICIHAVEOPT\0\x01"));
  await reader.read(4);
  for (;;) {
    const header = await reader.read(16);
    const option = header.readUInt32BE(8);
    const data = await reader.read(header.readUInt32BE(12));
    const answer = (type: number, payload = Buffer.alloc(0)): void => {
      const reply = Buffer.alloc(20);
      reply.write("0003e889045565a9", "hex");
      reply.writeUInt32BE(option, 8);
      reply.writeUInt32BE(type, 12);
      reply.writeUInt32BE(payload.length, 16);
      socket.write(Buffer.concat([reply, payload]));
    };
    const info = Buffer.alloc(10);
    info.writeBigUInt64BE(BigInt(options.content.length));
    info.writeUInt16BE(FLAGS, 8);
    if (option === 5 && options.tls !== undefined) {
      answer(1);
      reader.detach();
      socket = new TLSSocket(plain, {
        isServer: true,
        secureContext: createSecureContext(options.tls),
      });
      socket.on("error", () => undefined);
      reader = new SocketReader(socket);
    } else if (options.tls !== undefined && socket === plain)
      answer(0x8000_0005);
    else if (option === 8 && options.isModern === true) answer(1);
    else if (option === 1) {
      state.names.push(data.toString());
      socket.write(Buffer.concat([info, Buffer.alloc(124)]));
      break;
    } else if (option === 7 && options.isModern === true) {
      state.names.push(data.subarray(4, 4 + data.readUInt32BE(0)).toString());
      answer(3, Buffer.concat([Buffer.alloc(2), info]));
      answer(1);
      break;
    } else answer(0x8000_0001);
  }
  for (;;) {
    const request = await reader.read(28);
    if (request.readUInt16BE(6) === 2) break;
    state.requests++;
    const cookie = request.readBigUInt64BE(8);
    const offset = Number(request.readBigUInt64BE(16));
    const length = request.readUInt32BE(24);
    state.bytes += length;
    const count = state.requests;
    const reply =
      options.reply?.({ cookie, offset, length, count }) ??
      simpleReply(cookie, options.content.subarray(offset, offset + length));
    if (reply === "close") break;
    if (reply !== "none") socket.write(reply);
  }
  socket.end();
}

export function simpleReply(cookie: bigint, data: Buffer, error = 0): Buffer {
  const header = Buffer.alloc(16);
  header.writeUInt32BE(0x67446698);
  header.writeUInt32BE(error, 4);
  header.writeBigUInt64BE(cookie, 8);
  return Buffer.concat([header, data]);
}

/** @param done whether it is the last one of the reply */
export function chunkReply(
  cookie: bigint,
  { type, payload, done }: { type: number; payload: Buffer; done: boolean },
): Buffer {
  const header = Buffer.alloc(20);
  header.writeUInt32BE(0x668e33ef);
  header.writeUInt16BE(done ? 1 : 0, 4);
  header.writeUInt16BE(type, 6);
  header.writeBigUInt64BE(cookie, 8);
  header.writeUInt32BE(payload.length, 16);
  return Buffer.concat([header, payload]);
}

/** The payload of data of a structured reply. */
export function dataAt(offset: number, data: Buffer): Buffer {
  const start = Buffer.alloc(8);
  start.writeBigUInt64BE(BigInt(offset));
  return Buffer.concat([start, data]);
}
