import { promisify } from "node:util";
import * as zlib from "node:zlib";
import { allocateAligned } from "../aligned-memory.js";
import { chunkIdOf } from "../keys/derived-keys.js";
import {
  checkChunk,
  compactSeal,
  decrypt,
  type ChunkSeal,
} from "./chunk-seal.js";
import { ZstdInline } from "./zstd-inline.js";
import { ZstdThreads } from "./zstd-threads.js";

/** How a chunk is stored. */
export const RAW = 0;
export const ZSTD = 1;

/** zstd frames. Both functions run in other threads, of Node.js's pool or our own, but for little data. */
interface Codec {
  /** Makes the first call shorter. */
  prepare?(): void;
  compress(plain: Buffer): Promise<Uint8Array>;
  /** The id of a chunk; without it that is computed here. */
  identify?(plain: Buffer, idKey: Uint8Array): Promise<Uint8Array>;
  /**
   * @param size of the result, in bytes
   * @param into may be used for the result
   */
  decompress(stored: Buffer, size: number, into?: Buffer): Promise<Uint8Array>;
  /** Decrypts, decompresses and checks; without it that is done here. @param stored with the tag */
  open?(
    stored: Buffer,
    options: { seal: ChunkSeal; size: number; into: Buffer | undefined },
  ): Promise<Uint8Array>;
}

const LEVEL = 1;

/** Node.js has zstd since 22.15; its declarations for Node.js 20 do not list it. */
interface NativeZstd {
  zstdCompress(bytes: Buffer, options: object, done: Done): void;
  zstdDecompress(bytes: Buffer, options: object, done: Done): void;
}

type Done = (error: Error | null, result: Buffer) => void;

/** More than is needed, so that the last step needs no further buffer. */
const SPARE = 1024;

/** Output of one step: in steps of Node.js's default of 16 KiB, decompression costs more than twice the CPU time. */
function nativeCodec(native: NativeZstd): Codec {
  const constants = zlib.constants as Record<string, number>;
  const params = { [constants["ZSTD_c_compressionLevel"]!]: LEVEL };
  const compressAsync = promisify<Buffer, object, Buffer>(
    (plain, options, done) => native.zstdCompress(plain, options, done),
  );
  const decompressAsync = promisify<Buffer, object, Buffer>(
    (stored, options, done) => native.zstdDecompress(stored, options, done),
  );
  return {
    compress: (plain) =>
      compressAsync(plain, {
        params,
        chunkSize: plain.length + SPARE,
        pledgedSrcSize: plain.length,
      }),
    decompress: (stored, size) =>
      decompressAsync(stored, {
        chunkSize: size + SPARE,
        maxOutputLength: size + SPARE,
      }),
  };
}

/** The same library as WebAssembly, in threads of its own or for little data in this one: where Node.js has none. */
function webAssemblyCodec(threads: ZstdThreads | ZstdInline): Codec {
  return {
    prepare: () => threads.prepare(),
    compress: (plain) => threads.run(plain, { type: "compress", level: LEVEL }),
    identify: (plain, idKey) =>
      threads.run(plain, { type: "identify", idKey: new Uint8Array(idKey) }),
    decompress: (stored, size, into) =>
      threads.run(stored, {
        type: "decompress",
        size,
        ...(into && isShared(into) && { into }),
      }),
    open: (stored, { seal, size, into }) =>
      threads.run(stored, {
        type: "open",
        seal: compactSeal(seal),
        size,
        ...(into && isShared(into) && { into }),
      }),
  };
}

function isShared(bytes: Uint8Array): bytes is Buffer<SharedArrayBuffer> {
  return bytes.buffer instanceof SharedArrayBuffer;
}

const isNative = "zstdCompress" in zlib;
let codec: Codec | undefined;

function zstd(): Codec {
  return (codec ??= isNative
    ? nativeCodec(zlib as unknown as NativeZstd)
    : webAssemblyCodec(new ZstdThreads()));
}

/** Bytes that are compressed in this thread: a small incremental backup. */
const COMPRESSED_INLINE = 16 * 1024 * 1024;

/**
 * Called some time before the first chunk is compressed or decompressed: what is needed starts meanwhile.
 * @param bytes that will be compressed, about; undefined: not known
 */
export function prepareCompression(bytes?: number): void {
  if (bytes !== undefined && bytes <= COMPRESSED_INLINE && !isNative)
    codec ??= webAssemblyCodec(new ZstdInline());
  zstd().prepare?.();
}

/**
 * A buffer with any content, for chunks: our own threads compress from it without a copy, and a restored file is
 * written from it without one.
 */
export function allocateForChunks(size: number): Buffer {
  return isNative ? Buffer.allocUnsafeSlow(size) : allocateAligned(size);
}

/** From this number of bytes on, computing an id takes longer than handing it to a thread. */
const IDENTIFIED_BY_THREAD = 256 * 1024;

/**
 * The id of a chunk, computed by a thread where there are threads and the bytes need not be copied for it.
 * @param plain not to be changed before the result
 * @param idKey the key of {@link chunkIdOf}
 */
export async function identifyChunk(
  plain: Buffer,
  idKey: Uint8Array,
): Promise<Buffer> {
  const isLarge = plain.length >= IDENTIFIED_BY_THREAD;
  const id =
    isLarge && isShared(plain) ? zstd().identify?.(plain, idKey) : undefined;
  return id === undefined ? chunkIdOf(idKey, plain) : bufferOf(await id);
}

/** Compresses where this saves at least 3 %. @param plain not to be changed before the result */
export async function compressChunk(
  plain: Buffer,
): Promise<{ method: number; stored: Uint8Array }> {
  const stored = await zstd().compress(plain);
  return stored.length <= plain.length * 0.97
    ? { method: ZSTD, stored }
    : { method: RAW, stored: plain };
}

/**
 * @param size bytes of the plain chunk
 * @param into memory of `allocateForChunks` that may be used for it; undefined: it gets memory of its own
 * @throws Error if the method is unknown or the bytes are not a chunk of this size
 */
export async function decompressChunk(
  method: number,
  stored: Buffer,
  size: number,
  into?: Buffer,
): Promise<Buffer> {
  if (method !== RAW && method !== ZSTD)
    throw new Error(`unknown compression method ${String(method)}`);
  const plain =
    method === RAW ? stored : await zstd().decompress(stored, size, into);
  if (plain.length !== size)
    throw new Error(`${plain.length} bytes instead of ${size}`);
  return bufferOf(plain);
}

/**
 * Decrypts, decompresses and compares with the id.
 * @param stored with the tag; not to be changed before the result
 * @throws Error if it is not this chunk
 */
export async function openChunk(
  stored: Buffer,
  chunk: {
    readonly method: number;
    readonly seal: ChunkSeal;
    /** Bytes of the plain chunk. */
    readonly size: number;
    /** Memory of `allocateForChunks` that may be used for it. */
    readonly into: Buffer | undefined;
  },
): Promise<Buffer> {
  const { method, seal, size, into } = chunk;
  const opened =
    method === ZSTD ? zstd().open?.(stored, { seal, size, into }) : undefined;
  if (opened !== undefined) return bufferOf(await opened);
  const compressed = decrypt(seal, stored);
  const plain = await decompressChunk(method, compressed, size, into);
  checkChunk(seal, plain, size);
  return plain;
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
