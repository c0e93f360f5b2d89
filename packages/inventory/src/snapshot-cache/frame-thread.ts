import { Worker } from "node:worker_threads";
import type { FrameRequest, FrameResponse } from "./frame-worker.js";
import type { DecryptedFrame } from "./read-frame.js";

interface Waiting {
  readonly resolve: (frame: DecryptedFrame | undefined) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Runs `frame-worker.ts` while files are being read. One thread reads the files
 * of all pools.
 */
export class FrameThread {
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #users = 0;
  #lastId = 0;

  /** Runs `work` with the thread, which ends when no caller needs it any more. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    this.#users++;
    this.#worker ??= this.#start();
    try {
      return await work();
    } finally {
      if (--this.#users === 0) await this.#stop();
    }
  }

  /**
   * Only within `use`. Resolves with undefined where the file has no further
   * valid frame.
   * @throws Error the file cannot be read, or the thread has ended
   */
  read(request: Omit<FrameRequest, "id">): Promise<DecryptedFrame | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#worker === undefined) {
        reject(new Error("the thread that reads snapshots has ended"));
        return;
      }
      const id = ++this.#lastId;
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, ...request } satisfies FrameRequest);
    });
  }

  #start(): Worker {
    // The loaders of the main program are not needed.
    const worker = new Worker(new URL("./frame-worker.js", import.meta.url), {
      name: "snapshots",
      execArgv: [],
    });
    worker.on("message", (response: FrameResponse) => this.#settle(response));
    worker.on("error", (error: Error) => this.#onEnd(worker, error.message));
    worker.on("exit", () => this.#onEnd(worker, "it has ended"));
    return worker;
  }

  #settle(response: FrameResponse): void {
    const waiting = this.#waiting.get(response.id);
    this.#waiting.delete(response.id);
    if ("failure" in response) waiting?.reject(response.failure);
    else waiting?.resolve(response.frame);
  }

  /** The files that are being read count as unreadable; the next one starts another thread. */
  #onEnd(worker: Worker, reason: string): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const { reject } of this.#waiting.values())
      reject(new Error(`the thread that reads snapshots: ${reason}`));
    this.#waiting.clear();
  }

  async #stop(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }
}
