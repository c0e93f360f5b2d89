import type { Socket } from "node:net";
import type { Chunk } from "../rpc/answer.js";

/** Big enough that the kernel, not the event loop, does the work; small enough that a slow reader costs little. */
const SLICE_BYTES = 4 << 20;
/** Small pieces are copied together: one system call instead of many. */
const GATHER_BYTES = 1 << 18;

/**
 * Writes pieces with back-pressure.
 * @returns false when the connection ended before all was written
 */
export async function writeChunks(
  socket: Socket,
  chunks: Iterable<Chunk>,
): Promise<boolean> {
  for (const buffer of gather(chunks)) {
    for (let at = 0; at < buffer.length; at += SLICE_BYTES) {
      const slice = buffer.subarray(at, at + SLICE_BYTES);
      if (!(await writeOne(socket, slice))) return false;
    }
  }
  return true;
}

/** Writes one chunk and waits for the socket to drain. */
export function writeOne(socket: Socket, bytes: Buffer): Promise<boolean> {
  if (socket.destroyed || socket.writableEnded) return Promise.resolve(false);
  if (socket.write(bytes)) return Promise.resolve(true);
  return new Promise((resolve) => {
    const done = (writable: boolean): void => {
      socket.off("drain", onDrain);
      socket.off("close", onClose);
      resolve(writable);
    };
    const onDrain = (): void => done(true);
    const onClose = (): void => done(false);
    socket.on("drain", onDrain);
    socket.on("close", onClose);
  });
}

/** Copies runs of small pieces into one; passes big buffers as they are. */
export function* gather(chunks: Iterable<Chunk>): Generator<Buffer> {
  let small: Buffer[] = [];
  let size = 0;
  for (const buffer of buffersOf(chunks)) {
    if (buffer.length < GATHER_BYTES) {
      small.push(buffer);
      size += buffer.length;
      if (size < GATHER_BYTES) continue;
      yield Buffer.concat(small, size);
    } else {
      if (size > 0) yield Buffer.concat(small, size);
      yield buffer;
    }
    small = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(small, size);
}

function* buffersOf(chunks: Iterable<Chunk>): Generator<Buffer> {
  for (const chunk of chunks)
    if (typeof chunk === "string") yield Buffer.from(chunk);
    else if (Buffer.isBuffer(chunk)) yield chunk;
    else yield* chunk.pieces();
}
