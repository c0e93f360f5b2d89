/*
 * The thread that reads and decrypts frames of snapshot files: the main thread
 * receives them ready for the store.
 */
import { readSync } from "node:fs";
import { parentPort } from "node:worker_threads";
import {
  readFrame,
  type DecryptedFrame,
  type FramePosition,
} from "./read-frame.js";

export interface FrameRequest extends FramePosition {
  /** Number of the request, returned with its response. */
  readonly id: number;
  /** Descriptor of the open file. */
  readonly fd: number;
  /** Key of the file (`fileKey`). */
  readonly key: Uint8Array;
}

/** `frame`: as `readFrame` returns it. */
export type FrameResponse = { readonly id: number } & (
  { readonly frame: DecryptedFrame | undefined } | { readonly failure: Error }
);

let buffer = Buffer.alloc(0);

function respond(request: FrameRequest): void {
  const { id, fd, key } = request;
  try {
    const frame = readFrame(request, key, (at, length) => {
      if (buffer.length < length) buffer = Buffer.allocUnsafeSlow(2 * length);
      return buffer.subarray(0, readSync(fd, buffer, 0, length, at));
    });
    send({ id, frame }, frame && [frame.index, frame.records]);
  } catch (error) {
    send({ id, failure: error as Error });
  }
}

function send(response: FrameResponse, transfer: ArrayBuffer[] = []): void {
  parentPort!.postMessage(response, transfer);
}

parentPort!.on("message", respond);
