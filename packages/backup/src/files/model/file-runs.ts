import { readAhead } from "../../read/read-ahead.js";
import { damaged } from "./file-system-error.js";
import type { ReadableDisk } from "./readable-disk.js";

/** A part of the content of a file; the next part follows it in the file. */
export interface FileRun {
  /** Bytes. */
  readonly length: number;
  /** Bytes from the beginning of the disk; undefined: zeros. */
  readonly offset?: number | undefined;
}

/** Bytes that are read at once: a chunk of a backup. */
const PIECE = 1024 * 1024;
/** Pieces that are read at the same time. */
const AHEAD = 4;
const ZEROS = Buffer.alloc(PIECE);
/** Larger than any file of a disk of 64 TiB: a hole of 2^53 bytes would be sent for years. */
const MAX_SIZE = 64 * 1024 ** 4;

/**
 * The content of a file: its runs in order, cut at its size; what no run has is zero.
 * @param size bytes
 * @throws FileSystemError `file-system-damaged`
 */
export async function* contentOfRuns(
  disk: ReadableDisk,
  runs: AsyncIterable<FileRun> | Iterable<FileRun>,
  size: number,
): AsyncGenerator<Buffer, void> {
  if (size > MAX_SIZE) throw damaged(`a file of ${size} bytes`);
  let done = 0;
  for await (const run of runs) {
    if (done >= size) break;
    if (!(run.length >= 0)) throw damaged(`a run of ${run.length} bytes`);
    const length = Math.min(run.length, size - done);
    yield* contentOfRun(disk, { ...run, length });
    done += length;
  }
  yield* zeros(size - done);
}

async function* contentOfRun(
  disk: ReadableDisk,
  { offset, length }: FileRun,
): AsyncGenerator<Buffer, void> {
  if (offset === undefined) yield* zeros(length);
  else
    yield* readAhead(piecesOf(offset, length), AHEAD, ([at, bytes]) =>
      disk.read(at, bytes),
    );
}

function* piecesOf(
  offset: number,
  length: number,
): Generator<readonly [number, number]> {
  for (let done = 0; done < length;) {
    // Up to the next multiple of a piece, so that each chunk is read once.
    const at = offset + done;
    const bytes = Math.min(PIECE - (at % PIECE), length - done);
    yield [at, bytes];
    done += bytes;
  }
}

/** Zeros, in parts. @param length bytes */
function* zeros(length: number): Generator<Buffer> {
  for (let done = 0; done < length; done += PIECE)
    yield ZEROS.subarray(0, Math.min(PIECE, length - done));
}

/** All bytes together. @param limit bytes @throws FileSystemError `file-system-damaged` if there are more */
export async function collect(
  content: AsyncIterable<Buffer>,
  limit: number,
): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of content) {
    length += part.length;
    if (length > limit) throw damaged(`more than ${limit} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
