import { RepositoryError } from "../../src/errors.js";
import { encodeFooter, encodeHeader } from "../../src/vhd/vhd-format.js";
import { VhdStream } from "../../src/vhd/vhd-stream.js";

const SIZE = 4 * 2 ** 20;
const footer = encodeFooter(SIZE, Date.UTC(2026, 10, 21));
const table = Buffer.alloc(512, 0xff);

export const seeds = [Buffer.concat([footer, encodeHeader(2), table, footer])];

async function* inPieces(input: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < input.length; at += 700)
    yield input.subarray(at, at + 700);
}

export async function run(input: Buffer): Promise<void> {
  const stream = new VhdStream({
    size: SIZE,
    isDelta: true,
    open: () => inPieces(input),
  });
  try {
    for await (const part of stream.parts()) void part;
  } catch (error) {
    if (!(error instanceof RepositoryError)) throw error;
  }
}
