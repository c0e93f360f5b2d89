import { Worker } from "node:worker_threads";
import type { RestoredStore } from "./restore-store.js";
import type {
  SnapshotRequest,
  SnapshotResponse,
  WriteRequest,
} from "./snapshot-worker.js";
import type { WrittenRows } from "./write-shared-rows.js";

type Result = RestoredStore | WrittenRows;

interface Waiting {
  readonly resolve: (result: Result) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Runs `snapshot-worker.ts` while files are being read or whole pools are written. One
 * thread does this for all pools.
 */
export class SnapshotThread {
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #users = 0;
  #lastId = 0;

  /** Runs `work` with the thread, which starts with the first file and ends when no caller needs it any more. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    this.#users++;
    try {
      return await work();
    } finally {
      if (--this.#users === 0) await this.#stop();
    }
  }

  /**
   * Builds a store from the frames of a file. Only within `use`.
   * @throws Error the file cannot be read, or the thread has ended
   */
  async restore(file: {
    readonly fd: number;
    readonly key: Uint8Array;
  }): Promise<RestoredStore> {
    return (await this.#request(file)) as RestoredStore;
  }

  /**
   * Compresses rows and writes them behind the frames of a file; their cells are transferred. Only within `use`.
   * @throws Error the rows cannot be written, or the thread has ended
   */
  async write(request: Omit<WriteRequest, "id">): Promise<WrittenRows> {
    const { buffer } = request.rows.cells;
    return (await this.#request(request, [buffer])) as WrittenRows;
  }

  #request(
    request: Omit<SnapshotRequest, "id">,
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#worker ??= this.#start();
      const id = ++this.#lastId;
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, ...request }, transfer);
    });
  }

  #start(): Worker {
    // The loaders of the main program are not needed.
    const worker = new Worker(
      new URL("./snapshot-worker.js", import.meta.url),
      {
        name: "snapshots",
        execArgv: [],
      },
    );
    worker.on("message", (response: SnapshotResponse) =>
      this.#settle(response),
    );
    worker.on("error", (error: Error) => this.#onEnd(worker, error.message));
    worker.on("exit", () => this.#onEnd(worker, "it has ended"));
    return worker;
  }

  #settle(response: SnapshotResponse): void {
    const waiting = this.#waiting.get(response.id);
    this.#waiting.delete(response.id);
    if ("failure" in response) waiting?.reject(response.failure);
    else waiting?.resolve(response.result);
  }

  /** What is being read or written has failed; the next one starts another thread. */
  #onEnd(worker: Worker, reason: string): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const { reject } of this.#waiting.values())
      reject(new Error(`the thread of the snapshots: ${reason}`));
    this.#waiting.clear();
  }

  async #stop(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }
}
