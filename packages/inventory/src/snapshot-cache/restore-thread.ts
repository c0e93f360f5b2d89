import { Worker } from "node:worker_threads";
import type { RestoredStore } from "./restore-store.js";
import type { RestoreRequest, RestoreResponse } from "./restore-worker.js";

interface Waiting {
  readonly resolve: (restored: RestoredStore) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Runs `restore-worker.ts` while files are being read. One thread reads the
 * files of all pools.
 */
export class RestoreThread {
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
   * Only within `use`.
   * @throws Error the file cannot be read, or the thread has ended
   */
  restore(request: Omit<RestoreRequest, "id">): Promise<RestoredStore> {
    return new Promise((resolve, reject) => {
      this.#worker ??= this.#start();
      const id = ++this.#lastId;
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, ...request } satisfies RestoreRequest);
    });
  }

  #start(): Worker {
    // The loaders of the main program are not needed.
    const worker = new Worker(new URL("./restore-worker.js", import.meta.url), {
      name: "snapshots",
      execArgv: [],
    });
    worker.on("message", (response: RestoreResponse) => this.#settle(response));
    worker.on("error", (error: Error) => this.#onEnd(worker, error.message));
    worker.on("exit", () => this.#onEnd(worker, "it has ended"));
    return worker;
  }

  #settle(response: RestoreResponse): void {
    const waiting = this.#waiting.get(response.id);
    this.#waiting.delete(response.id);
    if ("failure" in response) waiting?.reject(response.failure);
    else waiting?.resolve(response.restored);
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
