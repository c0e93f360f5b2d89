/*
 * The thread that reads snapshot files and builds the stores of their pools, which the main
 * thread only takes over, and that writes the records of whole pools.
 */
import { fstatSync, readSync, writevSync } from "node:fs";
import { parentPort } from "node:worker_threads";
import { ZstdModule } from "@xo-server/zstd";
import type { SharedRows } from "../store/shared-rows.js";
import { buffersOf } from "../store/store-content.js";
import type { FileEnd } from "./file-end.js";
import { restoreStore, type RestoredStore } from "./restore-store.js";
import { writeSharedRows, type WrittenRows } from "./write-shared-rows.js";

interface FileRequest {
  /** Descriptor of the open file. */
  readonly fd: number;
  /** Key of the file (`fileKey`). */
  readonly key: Uint8Array;
}

export interface WriteRequest extends FileRequest {
  readonly rows: SharedRows;
  /** Where the rows are written. */
  readonly end: FileEnd;
}

/** Either reads a file or writes rows. */
export type SnapshotRequest = {
  /** Number of the request, returned with its response. */
  readonly id: number;
} & (FileRequest | WriteRequest);

export type SnapshotResponse = { readonly id: number } & (
  | { readonly result: RestoredStore | WrittenRows }
  | { readonly failure: Error }
);

let buffer = Buffer.alloc(0);
/** Only to write: most threads read the files of a start, and end. */
let zstd: Promise<ZstdModule> | undefined;

async function respond(request: SnapshotRequest): Promise<void> {
  const { id } = request;
  try {
    if ("rows" in request) {
      const result = write(request, await (zstd ??= ZstdModule.load()));
      send({ id, result }, [result.rows.cells.buffer as ArrayBuffer]);
      return;
    }
    const result = restore(request);
    send({ id, result }, buffersOf(result.content));
  } catch (error) {
    send({ id, failure: error as Error });
  }
}

function restore({ fd, key }: FileRequest): RestoredStore {
  const { size } = fstatSync(fd);
  return restoreStore(key, (at, requested) => {
    // The length in a damaged header may be any number.
    const length = Math.min(requested, Math.max(0, size - at));
    if (buffer.length < length) buffer = Buffer.allocUnsafeSlow(2 * length);
    return buffer.subarray(0, readSync(fd, buffer, 0, length, at));
  });
}

function write(
  { fd, key, rows, end }: WriteRequest,
  module: ZstdModule,
): WrittenRows {
  return writeSharedRows(rows, module, { key, end }, (parts, at) => {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    const written = writevSync(fd, [...parts], at);
    // A short write happens when the disk is full.
    if (written < length)
      throw new Error(`only ${written} of ${length} bytes were written`);
    return length;
  });
}

function send(
  response: SnapshotResponse,
  transfer: readonly ArrayBuffer[] = [],
): void {
  parentPort!.postMessage(response, transfer);
}

parentPort!.on("message", (request: SnapshotRequest) => {
  void respond(request);
});
