import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type {
  DiskPart,
  ForeignContent,
  ForeignSource,
  ForeignVm,
} from "../foreign/foreign-vm.js";
import { ByteStream } from "../vhd/byte-stream.js";
import { readVmdk } from "../vmdk/vmdk-stream.js";
import { TarReader, type TarEntry } from "../xva/tar-reader.js";
import { ManifestCheck } from "./manifest.js";
import { invalid } from "./ovf-error.js";
import { readOvf, type OvfFile, type OvfPackage } from "./read-ovf.js";

/** Bytes of a descriptor or a manifest. */
const MAX_TEXT = 4 * 1024 * 1024;

/**
 * An OVA that is read from its beginning to its end: a tar archive of the descriptor
 * first, and of the files in the order in which the descriptor lists them; a manifest may be
 * anywhere behind the descriptor (DSP0243, section 5.3).
 */
export class OvaSource implements ForeignSource {
  readonly #tar: TarReader;
  readonly #package: OvfPackage;
  readonly #check: ManifestCheck;

  private constructor(
    tar: TarReader,
    content: OvfPackage,
    check: ManifestCheck,
  ) {
    this.#tar = tar;
    this.#package = content;
    this.#check = check;
  }

  /** Reads the descriptor. @throws RepositoryError `source-invalid` */
  static async open(bytes: AsyncIterable<Uint8Array>): Promise<OvaSource> {
    const tar = new TarReader(new ByteStream(bytes), invalid);
    const check = new ManifestCheck();
    const first = await tar.next();
    if (first === undefined || !first.name.endsWith(".ovf"))
      throw invalid("its first file is not the descriptor (.ovf)");
    const text = await readText(tar, first, check);
    return new OvaSource(tar, readOvf(text), check);
  }

  get vm(): ForeignVm {
    return this.#package.vm;
  }

  async *contents(): AsyncGenerator<ForeignContent, void> {
    for (const file of this.#package.files) {
      await this.#find(file);
      const sums = this.#check.open(file.name);
      const content = summed(this.#tar.content(), sums);
      yield { disk: file.disk, parts: partsOf(content, file) };
      // What follows the last grain, and what the reader has left.
      for await (const piece of content) void piece;
      this.#check.add(file.name, sums);
    }
    for (const disk of this.vm.disks)
      if (!this.#package.files.some((file) => file.disk.id === disk.id))
        yield { disk, parts: nothing() };
  }

  async verify(): Promise<void> {
    await this.#find(undefined);
  }

  /** Reads on to a file, or to the end of the archive. @throws RepositoryError `source-invalid` */
  async #find(file: OvfFile | undefined): Promise<void> {
    const { files } = this.#package;
    for (;;) {
      const entry = await this.#tar.next();
      if (entry === undefined && file === undefined) return;
      if (entry === undefined)
        throw invalid(`it ends without the file ${file!.name}`);
      if (entry.name === file?.name) return;
      if (entry.name.endsWith(".mf")) {
        this.#check.read(await readText(this.#tar, entry));
        continue;
      }
      if (files.some(({ name }) => name === entry.name))
        throw invalid(
          `${entry.name} is not in the place in which the descriptor lists it`,
        );
    }
  }
}

async function readText(
  tar: TarReader,
  { name, size }: TarEntry,
  check?: ManifestCheck,
): Promise<string> {
  if (size > MAX_TEXT)
    throw invalid(`${name} has ${size} bytes, at most ${MAX_TEXT} are read`);
  const bytes = Buffer.alloc(size);
  await tar.readInto(bytes);
  const sums = check?.open(name);
  sums?.update(bytes);
  if (sums !== undefined) check?.add(name, sums);
  return bytes.toString();
}

/** The iterator stays usable when its reader stops: the rest is read for the checksum. */
async function* summed(
  content: AsyncIterable<Uint8Array>,
  sums: { update(bytes: Uint8Array): void },
): AsyncGenerator<Uint8Array, void> {
  for await (const piece of content) {
    sums.update(piece);
    yield piece;
  }
}

function partsOf(
  content: AsyncGenerator<Uint8Array, void>,
  { isGzip, disk }: OvfFile,
): AsyncIterable<DiskPart> {
  if (!isGzip) return readVmdk(new ByteStream(content), disk.size);
  return unpacked(content, disk.size);
}

/** Bytes behind the last grain of a packed VMDK. */
const MAX_UNPACKED_REST = 256 * 1024 * 1024;

async function* unpacked(
  content: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<DiskPart, void> {
  const packed = Readable.from(content, { objectMode: false });
  const gunzip = createGunzip();
  packed.once("error", (error) => gunzip.destroy(error));
  const stream = new ByteStream(packed.pipe(gunzip));
  try {
    yield* readVmdk(stream, size);
    const end = stream.position + MAX_UNPACKED_REST;
    while ((await stream.take(MAX_UNPACKED_REST)) !== undefined)
      if (stream.position > end) throw invalid("data behind the last grain");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // zlib's own codes.
    if (code?.startsWith("Z_") !== true) throw error;
    throw invalid(`gzip: ${(error as Error).message}`);
  } finally {
    gunzip.destroy();
  }
}

async function* nothing(): AsyncGenerator<DiskPart, void> {
  // A disk without a file is empty.
}
