import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { crc32, createDeflateRaw } from "node:zlib";
import { problemList, type ArchiveProblem } from "./problem-list.js";
import type { ArchiveItem } from "./walk-files.js";
import {
  centralHeader,
  dataDescriptor,
  localHeader,
  ZIP64_FROM,
  zipEnd,
  type ZipContent,
  type ZipEntry,
} from "./zip-entry.js";

/** Types and permissions of Unix. */
const TYPES = { file: 0o100000, folder: 0o040000, link: 0o120000, other: 0 };
const PERMISSIONS = { file: 0o644, folder: 0o755, link: 0o777, other: 0 };
/** What deflate may add to a file. */
const MARGIN = 2 ** 24;
/** As zlib says. */
const LEVEL = 4;

interface Source extends Pick<ZipEntry, "mode" | "modified"> {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  readonly content?: AsyncIterable<Buffer> | undefined;
}

/** A ZIP archive: each byte is sent when it was read. @throws errors of the content */
export async function* zipArchive(
  items: AsyncIterable<ArchiveItem>,
): AsyncGenerator<Buffer, void> {
  const writer = new ZipWriter();
  const problems: ArchiveProblem[] = [];
  for await (const item of items)
    if ("problem" in item) problems.push(item);
    else yield* writer.add(sourceOf(item));
  const list = problemList(problems);
  if (list !== undefined)
    yield* writer.add({
      path: list.path,
      mode: TYPES.file | PERMISSIONS.file,
      modified: 0,
      ...inMemory(list.content),
    });
  yield* writer.end();
}

class ZipWriter {
  #offset = 0;
  readonly #central: Buffer[] = [];

  async *add(source: Source): AsyncGenerator<Buffer, void> {
    const { path, content, size, mode, modified } = source;
    const entry: ZipEntry = {
      name: Buffer.from(path),
      isCompressed: content !== undefined,
      isLarge: size > ZIP64_FROM - MARGIN,
      mode,
      modified,
    };
    const start = this.#offset;
    yield this.#counted(localHeader(entry));
    const meter = { crc: 0, size: 0 };
    const first = this.#offset;
    if (content !== undefined)
      for await (const part of deflated(metered(content, meter)))
        yield this.#counted(part);
    const known: ZipContent = { ...meter, stored: this.#offset - first };
    if (entry.isCompressed) yield this.#counted(dataDescriptor(entry, known));
    this.#central.push(centralHeader(entry, known, start));
  }

  *end(): Generator<Buffer> {
    const offset = this.#offset;
    for (const header of this.#central) yield this.#counted(header);
    const size = this.#offset - offset;
    yield zipEnd({ entries: this.#central.length, offset, size });
  }

  #counted(bytes: Buffer): Buffer {
    this.#offset += bytes.length;
    return bytes;
  }
}

function sourceOf({
  path,
  node,
  content,
  target,
}: Extract<ArchiveItem, { node: unknown }>): Source {
  const { kind, modified, mode = PERMISSIONS[kind] } = node;
  const known = { mode: TYPES[kind] | mode, modified };
  if (kind === "folder") return { ...known, path: `${path}/`, size: 0 };
  if (kind === "link")
    return { ...known, path, ...inMemory(Buffer.from(target ?? "")) };
  return { ...known, path, size: node.size, content };
}

function inMemory(bytes: Buffer): Pick<Source, "size" | "content"> {
  return { size: bytes.length, content: Readable.from([bytes]) };
}

async function* metered(
  content: AsyncIterable<Buffer>,
  meter: { crc: number; size: number },
): AsyncGenerator<Buffer, void> {
  for await (const bytes of content) {
    meter.crc = crc32(bytes, meter.crc);
    meter.size += bytes.length;
    yield bytes;
  }
}

async function* deflated(
  content: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void> {
  const deflate = createDeflateRaw({ level: LEVEL });
  const fed = pipeline(content, deflate);
  // The reader of the stream gets the error.
  fed.catch(() => undefined);
  for await (const part of deflate) yield part as Buffer;
  await fed;
}
