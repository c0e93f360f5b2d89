import { RepositoryError } from "../errors.js";
import { readAhead } from "../read/read-ahead.js";
import { DiskSpans, SPAN_SIZE } from "../read/disk-spans.js";
import type { DiskReader } from "../read/disk-reader.js";
import { createVhdImage } from "../vhd/vhd-image.js";

/** Spans that are read at the same time. */
const AHEAD = 4;

/** A disk as one stream of a known length. */
export interface Image {
  /** Bytes. */
  readonly length: number;
  /** Called once. @throws RepositoryError `missing` or `damaged` */
  content(): AsyncGenerator<Buffer, void>;
}

interface ImageOptions {
  readonly format: "vhd" | "raw";
  /** Only for `vhd`: the image then has only what differs from it. */
  readonly base?: DiskReader | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** @throws RepositoryError `invalid`, `missing` or `damaged` */
export async function createImage(
  reader: DiskReader,
  { format, base, signal }: ImageOptions,
): Promise<Image> {
  if (format === "raw") {
    if (base !== undefined)
      throw new RepositoryError("invalid", "base: only with the format vhd");
    return { length: reader.size, content: () => rawContent(reader, signal) };
  }
  const spans = new DiskSpans(reader);
  const blocks =
    base === undefined
      ? await spans.used(signal)
      : await spans.changedSince(base, signal);
  const image = createVhdImage(reader.size, blocks);
  return {
    length: image.length,
    content() {
      const bytes = readAhead(blocks, AHEAD, (block) => spans.read(block));
      return image.write(async () => {
        signal?.throwIfAborted();
        const next = await bytes.next();
        return next.value!;
      });
    },
  };
}

function rawContent(
  reader: DiskReader,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer, void> {
  const spans = new DiskSpans(reader);
  const count = Math.ceil(reader.size / SPAN_SIZE);
  return readAhead(numbers(count), AHEAD, (span) => {
    signal?.throwIfAborted();
    return spans.read(span);
  });
}

function* numbers(count: number): Generator<number> {
  for (let i = 0; i < count; i++) yield i;
}
