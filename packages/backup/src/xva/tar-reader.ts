import type { RepositoryError } from "../errors.js";
import type { ByteStream } from "../vhd/byte-stream.js";
import { invalid as invalidXva } from "./xva-error.js";

const RECORD = 512;
/** What may follow the end of an archive: programs fill up to 10 KiB and more. */
const MAX_REST = 1024 * 1024;
/** Bytes of what describes the next file. */
const MAX_EXTENSION = 64 * 1024;
/** Of a piece of the content. */
const PIECE = 64 * 1024;

export interface TarEntry {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
}

/** What an extension says of the next file. */
type Extension = Partial<TarEntry>;

/**
 * Reads a tar archive (POSIX ustar, with pax headers and GNU's long names and
 * sizes) in its order. After each entry its content is read or skipped before the
 * next one.
 */
export class TarReader {
  readonly #stream: ByteStream;
  readonly #invalid: (reason: string) => RepositoryError;
  /** Of the content of the last entry, with what fills it up. */
  #left = 0;
  #padding = 0;

  /** @param invalid the error of an archive that is not valid */
  constructor(stream: ByteStream, invalid = invalidXva) {
    this.#stream = stream;
    this.#invalid = invalid;
  }

  /**
   * @returns undefined at the end of the archive
   * @throws RepositoryError `source-invalid`, also if the archive is cut
   */
  async next(): Promise<TarEntry | undefined> {
    let extension: Extension = {};
    for (;;) {
      await this.#stream.skip(this.#left + this.#padding);
      this.#left = this.#padding = 0;
      const header = await this.#stream.read(RECORD);
      if (isZero(header)) return this.#end();
      if (octal(header, 148, 8) !== checksumOf(header))
        throw this.#invalid(
          `no header of a file at ${this.#stream.position - RECORD} bytes`,
        );
      const size = extension.size ?? readSize(header);
      if (size === undefined) throw this.#invalid("a file without a size");
      this.#left = size;
      this.#padding = (RECORD - (size % RECORD)) % RECORD;
      const type = String.fromCharCode(header[156]!);
      if (!EXTENSIONS.has(type))
        return { name: readName(header), size, ...extension };
      extension = { ...extension, ...(await this.#readExtension(type, size)) };
    }
  }

  /** The content of the entry. @param into of its size */
  async readInto(into: Uint8Array): Promise<void> {
    await this.#stream.readInto(into);
    this.#left -= into.length;
  }

  /** What is left of the content of the entry, in pieces. */
  async *content(): AsyncGenerator<Uint8Array, void> {
    while (this.#left > 0) {
      const piece = await this.#stream.take(Math.min(this.#left, PIECE));
      if (piece === undefined) throw this.#stream.endsEarly();
      this.#left -= piece.length;
      yield piece;
    }
  }

  async #end(): Promise<undefined> {
    const rest = await this.#stream.rest(MAX_REST);
    // The end is two records of zeros.
    if (rest === undefined || rest.length < RECORD || !isZero(rest))
      throw this.#invalid("the archive does not end as it should");
    return undefined;
  }

  async #readExtension(type: string, size: number): Promise<Extension> {
    if (size > MAX_EXTENSION)
      throw this.#invalid(`an extended header of ${size} bytes`);
    const content = Buffer.alloc(size);
    await this.readInto(content);
    const text = content.toString();
    if (type === "L") return { name: text.replace(/\0.*$/s, "") };
    return type === "x" ? readPax(text) : {};
  }
}

/** pax: of the next file, of all files; GNU: long name, long link. */
const EXTENSIONS = new Set(["x", "g", "L", "K"]);

/** Records such as `22 size=10737418240`. */
function readPax(text: string): Extension {
  const [, path] = /^\d+ path=(.+)$/m.exec(text) ?? [];
  const [, size] = /^\d+ size=(\d{1,15})$/m.exec(text) ?? [];
  return {
    ...(path !== undefined && { name: path }),
    ...(size !== undefined && { size: Number(size) }),
  };
}

function readName(header: Buffer): string {
  const textAt = (from: number, to: number): string => {
    const end = header.indexOf(0, from);
    return header.toString("utf8", from, end < 0 ? to : Math.min(end, to));
  };
  const isUstar = header.toString("latin1", 257, 263) === "ustar\0";
  const prefix = isUstar ? textAt(345, 500) : "";
  return (prefix === "" ? "" : `${prefix}/`) + textAt(0, 100);
}

/** Octal; or, with the first bit set, binary. */
function readSize(header: Buffer): number | undefined {
  if (header[124] !== 0x80) return octal(header, 124, 12);
  const size = header.readBigUInt64BE(128);
  return size <= Number.MAX_SAFE_INTEGER ? Number(size) : undefined;
}

/** @returns undefined: no number */
function octal(
  header: Buffer,
  offset: number,
  length: number,
): number | undefined {
  const text = header.toString("latin1", offset, offset + length);
  const [, digits] = /^ *([0-7]+)[ \0]*$/.exec(text) ?? [];
  return digits === undefined ? undefined : parseInt(digits, 8);
}

/** The sum of all bytes, with spaces in the place of the sum. */
function checksumOf(header: Buffer): number {
  let sum = 0;
  for (let i = 0; i < RECORD; i++)
    sum += i >= 148 && i < 156 ? 0x20 : header[i]!;
  return sum;
}

function isZero(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0);
}
