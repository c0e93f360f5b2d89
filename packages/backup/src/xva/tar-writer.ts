const RECORD = 512;
/** Two records of zeros. */
export const ARCHIVE_END = Buffer.alloc(2 * RECORD);

/** Bytes of a file in an archive, with its header and what fills it up. */
export function sizeInArchive(size: number): number {
  return RECORD + size + paddingOf(size);
}

/** A file of a tar archive (POSIX ustar): header, content, padding. @param name of at most 100 characters */
export function* tarFile(name: string, content: Buffer): Generator<Buffer> {
  yield headerOf(name, content.length);
  if (content.length > 0) yield content;
  const padding = paddingOf(content.length);
  if (padding > 0) yield ARCHIVE_END.subarray(0, padding);
}

function paddingOf(size: number): number {
  return (RECORD - (size % RECORD)) % RECORD;
}

function headerOf(name: string, size: number): Buffer {
  const header = Buffer.alloc(RECORD);
  header.write(name, 0, "latin1");
  const octal = (value: number, at: number, digits: number) =>
    header.write(`${value.toString(8).padStart(digits, "0")}\0`, at, "latin1");
  octal(0o400, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(size, 124, 11);
  octal(0, 136, 11);
  header.write("0ustar\0" + "00", 156, "latin1");
  // The sum of all bytes, with spaces in its place.
  header.write(" ".repeat(8), 148, "latin1");
  const sum = header.reduce((all, byte) => all + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return header;
}
