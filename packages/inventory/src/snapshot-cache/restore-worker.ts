/*
 * The thread that reads snapshot files and builds the stores of their pools:
 * the main thread only takes them over.
 */
import { fstatSync, readSync } from "node:fs";
import { parentPort } from "node:worker_threads";
import { buffersOf } from "../store/store-content.js";
import { restoreStore, type RestoredStore } from "./restore-store.js";

export interface RestoreRequest {
  /** Number of the request, returned with its response. */
  readonly id: number;
  /** Descriptor of the open file. */
  readonly fd: number;
  /** Key of the file (`fileKey`). */
  readonly key: Uint8Array;
}

export type RestoreResponse = { readonly id: number } & (
  | { readonly restored: RestoredStore }
  | { readonly failure: Error }
);

let buffer = Buffer.alloc(0);

function respond({ id, fd, key }: RestoreRequest): void {
  try {
    const { size } = fstatSync(fd);
    const restored = restoreStore(key, (at, requested) => {
      // The length in a damaged header may be any number.
      const length = Math.min(requested, Math.max(0, size - at));
      if (buffer.length < length) buffer = Buffer.allocUnsafeSlow(2 * length);
      return buffer.subarray(0, readSync(fd, buffer, 0, length, at));
    });
    send({ id, restored }, buffersOf(restored.content));
  } catch (error) {
    send({ id, failure: error as Error });
  }
}

function send(
  response: RestoreResponse,
  transfer: readonly ArrayBuffer[] = [],
): void {
  parentPort!.postMessage(response, transfer);
}

parentPort!.on("message", respond);
