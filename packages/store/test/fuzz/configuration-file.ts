import { XoError } from "@xo-server/model";
import { openFile, sealFile } from "../../src/configuration/sealed-file.js";

const PASSPHRASE = "a passphrase of tests";

async function* plain(): AsyncGenerator<string> {
  yield '{"format":"xo-server configuration","version":1}';
}

const sealed: Uint8Array[] = [];
for await (const piece of sealFile(plain(), PASSPHRASE, 4)) sealed.push(piece);

export const seeds = [Buffer.concat(sealed)];

/** A file for `config import`, before it is authenticated. */
export async function run(input: Buffer): Promise<void> {
  try {
    await openFile(input, PASSPHRASE);
  } catch (error) {
    if (!(error instanceof XoError)) throw error;
  }
}
