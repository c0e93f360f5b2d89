import { Readable } from "node:stream";
import { XoError } from "@xo-server/model";
import { readVhdSize } from "../../src/transfers/vhd-footer.js";
import { checkXva } from "../../src/transfers/xva.js";

const vhd = Buffer.alloc(512);
vhd.write("conectix");
vhd.writeUInt32BE(3, 60);
vhd.writeBigUInt64BE(2n ** 30n, 48);
vhd.writeUInt32BE(~vhd.reduce((sum, byte) => sum + byte, 0) >>> 0, 64);

export const seeds = [
  vhd,
  "ova.xml\u0000",
  Buffer.from([0x1f, 0x8b, 8]),
  Buffer.from([0x28, 0xb5, 0x2f, 0xfd]),
];

/** The start of an upload, in pieces of as many bytes as the first byte says. */
export async function run(input: Buffer): Promise<void> {
  const length = 1 + ((input[0] ?? 0) % 16);
  const pieces: Buffer[] = [];
  for (let at = 0; at < input.length; at += length)
    pieces.push(input.subarray(at, at + length));
  try {
    readVhdSize(input);
  } catch (error) {
    if (!(error instanceof XoError)) throw error;
  }
  try {
    await checkXva(Readable.from(pieces, { objectMode: false }));
  } catch (error) {
    if (!(error instanceof XoError)) throw error;
  }
}
