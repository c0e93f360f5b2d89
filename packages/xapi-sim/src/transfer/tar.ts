const BLOCK = 512;

/** Two empty blocks end an archive. */
export const tarEnd = Buffer.alloc(2 * BLOCK);

/** A file's header, as XAPI writes it: mode 0400, owned by root. @param seconds Unix time */
export function tarHeader(name: string, size: number, seconds: number): Buffer {
  const header = Buffer.alloc(BLOCK);
  header.write(name.slice(0, 99), 0, "latin1");
  header.write("0000400\0", 100, "latin1");
  header.write("0000000\0", 108, "latin1");
  header.write("0000000\0", 116, "latin1");
  header.write(`${octal(size, 11)}\0`, 124, "latin1");
  header.write(`${octal(seconds, 11)}\0`, 136, "latin1");
  header.write("        ", 148, "latin1");
  header.write("0", 156, "latin1");
  header.write(`${octal(checksum(header), 7)}\0`, 148, "latin1");
  return header;
}

/** Padding to a whole number of blocks. */
export function tarPadding(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

function octal(value: number, digits: number): string {
  return Math.floor(value).toString(8).padStart(digits, "0");
}

function checksum(header: Buffer): number {
  return header.reduce((sum, byte) => sum + byte, 0);
}

export interface TarFile {
  readonly name: string;
  readonly size: number;
  /**
   * The contents if the file is no longer than requested; else undefined, and the file was skipped.
   */
  readonly content: Buffer | undefined;
}

/** The archive is truncated. */
export class ArchiveTruncated extends Error {}

/**
 * Reads an archive as it arrives, up to the first empty block; returns the contents of files of up
 * to `keep` bytes.
 */
export async function* readTar(
  body: AsyncIterable<Buffer>,
  keep: number,
): AsyncGenerator<TarFile> {
  const chunks = body[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  const take = async (count: number): Promise<Buffer> => {
    const parts = [rest];
    let length = rest.length;
    while (length < count) {
      const next = await chunks.next();
      if (next.done === true)
        throw new ArchiveTruncated("the archive is incomplete");
      parts.push(next.value);
      length += next.value.length;
    }
    const all = parts.length === 1 ? rest : Buffer.concat(parts);
    rest = all.subarray(count);
    return all.subarray(0, count);
  };
  for (;;) {
    const header = await take(BLOCK);
    if (header[0] === 0) break;
    const size = parseInt(header.toString("latin1", 124, 136), 8);
    if (Number.isNaN(size)) throw new Error("not a tar archive");
    const padded = size + tarPadding(size).length;
    const content = size <= keep ? await take(padded) : undefined;
    for (
      let left = size <= keep ? 0 : padded;
      left > 0;
      left -= Math.min(left, 1 << 20)
    )
      await take(Math.min(left, 1 << 20));
    yield {
      name: header.toString("latin1", 0, header.indexOf(0)),
      size,
      content: content?.subarray(0, size),
    };
  }
}
