import { RepositoryError } from "../../src/errors.js";
import { ByteStream } from "../../src/vhd/byte-stream.js";
import { readVmdk } from "../../src/vmdk/vmdk-stream.js";
import { listedVmdk, streamOptimized } from "../foreign-fixtures.js";

const SIZE = 4 * 65_536;
const content = Buffer.alloc(SIZE);
content.fill(1, 65_536, 65_536 + 100);
content.fill(2, SIZE - 10);

export const seeds = [
  streamOptimized(content),
  listedVmdk(content),
  streamOptimized(Buffer.alloc(SIZE)),
];

async function* inPieces(input: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < input.length; at += 700)
    yield input.subarray(at, at + 700);
}

export async function run(input: Buffer): Promise<void> {
  let end = 0;
  try {
    const stream = new ByteStream(inPieces(input));
    for await (const { offset, bytes } of readVmdk(stream, SIZE)) {
      if (offset < end || offset + bytes.length > SIZE)
        throw new Error(`a part at ${offset} after ${end}`);
      end = offset + bytes.length;
    }
  } catch (error) {
    if (!(error instanceof RepositoryError)) throw error;
  }
}
