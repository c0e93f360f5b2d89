import type {
  CompressedBlock,
  CompressedRows,
} from "../store/compressed-rows.js";
import type { FrameParts } from "./frame-cipher.js";

/** The JSON part of the index. */
interface CompressedMetadata {
  readonly className: string;
  /** Integers per row. */
  readonly stride: number;
  readonly blocks: readonly CompressedBlock[];
}

/** In place of the number of rows, which is never negative (frame.ts). */
const MARKER = -1;
/** 32-bit integers before the cells: marker, number of cells, bytes of metadata. */
const PREFIX_NUMBERS = 3;

/**
 * Encodes compressed rows as a frame without status. Its index, integers as in
 * encodeIndex:
 *
 *     [-1, cells, metadata bytes] cells metadata
 */
export function encodeCompressed({
  cells,
  buffer,
  ...metadata
}: CompressedRows): FrameParts {
  const text = Buffer.from(JSON.stringify(metadata));
  const numbers = PREFIX_NUMBERS + cells.length;
  const index = new Uint8Array(4 * numbers + text.length);
  const view = new Int32Array(index.buffer, 0, numbers);
  view.set([MARKER, cells.length, text.length]);
  view.set(cells, PREFIX_NUMBERS);
  index.set(text, 4 * numbers);
  return { index, records: new Uint8Array(buffer) };
}

/** Whether an index is one of encodeCompressed. */
export function isCompressedIndex(index: ArrayBuffer): boolean {
  return new Int32Array(index, 0, 1)[0] === MARKER;
}

/**
 * Decodes a frame without copying: the rows refer to both buffers.
 * @throws RangeError, SyntaxError when `index` was not written by encodeCompressed
 */
export function decodeCompressed(
  index: ArrayBuffer,
  buffer: SharedArrayBuffer,
): CompressedRows {
  const [, count = 0, length] = new Int32Array(index, 0, PREFIX_NUMBERS);
  const cells = new Int32Array(index, 4 * PREFIX_NUMBERS, count);
  const text = Buffer.from(index, 4 * (PREFIX_NUMBERS + count), length);
  const metadata = JSON.parse(text.toString()) as CompressedMetadata;
  const { className, stride, blocks } = metadata;
  return { className, stride, blocks, cells, buffer };
}
