import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { RfbClient } from "../../src/console/rfb-client.js";
import { RepositoryError } from "../../src/errors.js";
import { SocketReader } from "../../src/net/socket-reader.js";

const uint16 = (...values: number[]) =>
  Buffer.from(values.flatMap((value) => [value >> 8, value & 255]));
const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};

/** What a server sends: its version, no password, a screen of 4 x 2 pixels, its name. */
const handshake = Buffer.concat([
  Buffer.from("RFB 003.008\n\x01\x01\0\0\0\0", "latin1"),
  uint16(4, 2),
  Buffer.alloc(16),
  uint32(2),
  Buffer.from("vm"),
]);
const update = (
  [width, height]: readonly [number, number],
  kind: number,
  pixels: number,
) =>
  Buffer.concat([
    Buffer.from([0, 0]),
    uint16(1, 0, 0, width, height),
    uint32(kind),
    Buffer.alloc(4 * pixels, 7),
  ]);

export const seeds = [
  Buffer.concat([handshake, update([4, 2], 0, 8)]),
  Buffer.concat([handshake, update([4, 1], 0, 4), update([4, 2], 0, 8)]),
  Buffer.concat([handshake, update([2, 2], -223, 0), update([2, 2], 0, 4)]),
  // A bell, a text and colours of a palette.
  Buffer.concat([
    handshake,
    Buffer.from([2, 3, 0, 0, 0, 0, 0, 0, 1, 65, 1, 0, 0, 0, 0, 1]),
    Buffer.alloc(6),
    update([4, 2], 0, 8),
  ]),
  Buffer.concat([
    Buffer.from("RFB 003.003\n\0\0\0\x01", "latin1"),
    handshake.subarray(18),
    update([4, 2], 0, 8),
  ]),
];

/** The bytes of a server, in pieces of 50 bytes. */
export async function run(input: Buffer): Promise<void> {
  const pieces = [];
  for (let at = 0; at < input.length; at += 50)
    pieces.push(input.subarray(at, at + 50));
  const received = Readable.from(pieces, { objectMode: false });
  const socket = Object.assign(received, { write: () => true });
  const reader = new SocketReader(socket as unknown as Socket);
  try {
    await new RfbClient(socket as unknown as Socket, reader).readScreen();
  } catch (error) {
    const isEnd =
      error instanceof Error && error.message === "the connection was closed";
    if (!isEnd && !(error instanceof RepositoryError)) throw error;
  } finally {
    received.destroy();
  }
}
