import { gzipSync } from "node:zlib";
import { RepositoryError } from "../../src/errors.js";
import { OvaSource } from "../../src/ovf/ova-source.js";
import { readOvf } from "../../src/ovf/read-ovf.js";
import { foreignImage } from "../../src/target/foreign-image.js";
import {
  manifestOf,
  ovaOf,
  ovfOf,
  streamOptimized,
} from "../foreign-fixtures.js";

const SIZE = 2 * 65_536;
const vmdk = streamOptimized(Buffer.alloc(SIZE, 1));
const disk = { id: "a", size: SIZE, file: "a.vmdk" };
const ovf = ovfOf({ disks: [disk] });
const packed = ovfOf({ disks: [{ ...disk, compression: "gzip" }] });
const files = { "vm.ovf": ovf, "a.vmdk": vmdk };

export const seeds = [
  ovf,
  ovaOf({ ...files, "vm.mf": manifestOf(files) }),
  ovaOf({ "vm.ovf": packed, "a.vmdk": gzipSync(vmdk) }),
];

async function* inPieces(input: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < input.length; at += 700)
    yield input.subarray(at, at + 700);
}

/** Disks larger than that are not written by the fuzzer. */
const MAX_SIZE = 2 ** 24;

/** As a descriptor, and as an archive. */
export async function run(input: Buffer): Promise<void> {
  try {
    readOvf(input.toString());
  } catch (error) {
    if (!(error instanceof RepositoryError)) throw error;
  }
  try {
    const source = await OvaSource.open(inPieces(input));
    if (source.vm.disks.some(({ size }) => size > MAX_SIZE)) return;
    const folders = Object.fromEntries(
      source.vm.disks.map(({ id }, i) => [id, `Ref:${i}`]),
    );
    const plan = { ova: "", folders };
    for await (const bytes of foreignImage(source, plan)) void bytes;
  } catch (error) {
    if (!(error instanceof RepositoryError)) throw error;
  }
}
