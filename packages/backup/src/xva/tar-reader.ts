import type { ByteStream } from "../vhd/byte-stream.js";
import { invalid } from "./xva-error.js";

const RECORD = 512;
/** What may follow the end of an archive: programs fill up to 10 KiB and more. */
const MAX_REST = 1024 * 1024;

export interface TarEntry {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
}

/**
 * Reads a tar archive (POSIX ustar, as XAPI writes it) in its order. After each
 * entry its content is read or skipped before the next one.
 */
export class TarReader {
  readonly #stream: ByteStream;
  /** Of the content of the last entry, with what fills it up. */
  #left = 0;
  #padding = 0;

  constructor(stream: ByteStream) {
    this.#stream = stream;
  }

  /**
   * @returns undefined at the end of the archive
   * @throws RepositoryError `source-invalid`, also if the archive is cut
   */
  async next(): Promise<TarEntry | undefined> {
    await this.#stream.skip(this.#left + this.#padding);
    this.#left = this.#padding = 0;
    const header = await this.#stream.read(RECORD);
    if (isZero(header)) {
      const rest = await this.#stream.rest(MAX_REST);
      // The end is two records of zeros.
      if (rest === undefined || rest.length < RECORD || !isZero(rest))
        throw invalid("the archive does not end as it should");
      return undefined;
    }
    if (octal(header, 148, 8) !== checksumOf(header))
      throw invalid(
        `no header of a file at ${this.#stream.position - RECORD} bytes`,
      );
    const size = octal(header, 124, 12);
    if (size === undefined) throw invalid("a file without a size");
    this.#left = size;
    this.#padding = (RECORD - (size % RECORD)) % RECORD;
    const end = header.indexOf(0);
    return { name: header.toString("latin1", 0, Math.min(end, 100)), size };
  }

  /** The content of the entry. @param into of its size */
  async readInto(into: Uint8Array): Promise<void> {
    await this.#stream.readInto(into);
    this.#left -= into.length;
  }
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
