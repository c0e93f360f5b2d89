import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { CHUNK_SIZE } from "./limits.js";

export type ZstdTask =
  | { readonly type: "compress"; readonly level: number }
  | {
      readonly type: "decompress";
      /** Bytes of the result. */
      readonly size: number;
    };

export interface ZstdRequest {
  readonly slot: number;
  readonly memory: SharedArrayBuffer;
  /** Bytes at the beginning of `memory`. */
  readonly length: number;
  readonly task: ZstdTask;
}

export type ZstdAnswer =
  | { readonly slot: number; readonly output: Uint8Array }
  | { readonly slot: number; readonly error: string };

/** Each takes 20 to 30 MiB of memory. */
const MAX_THREADS = 3;
/** So that a thread has its next request when it ends one. */
const SLOTS = 2;

/** Compiled, it is beside this file; bundled, beside the program. */
const program = fileURLToPath(new URL("./zstd-worker.js", import.meta.url));

/** Threads that run zstd as WebAssembly. They start when they are needed, and do not keep the process alive. */
export class ZstdThreads {
  readonly #threads: ZstdThread[] = [];
  /** Those who wait for a slot. */
  readonly #waiting: ((slot: Slot) => void)[] = [];
  readonly #max: number;

  constructor(max = Math.min(availableParallelism(), MAX_THREADS)) {
    this.#max = max;
  }

  /** @throws Error if the bytes cannot be decompressed */
  async run(bytes: Uint8Array, task: ZstdTask): Promise<Uint8Array> {
    const slot =
      this.#take() ??
      (await new Promise<Slot>((resolve) => this.#waiting.push(resolve)));
    try {
      return await slot.thread.run(slot, bytes, task);
    } finally {
      slot.thread.release(slot);
      const free = this.#waiting.length > 0 ? this.#take() : undefined;
      if (free !== undefined) this.#waiting.shift()!(free);
    }
  }

  /** Of the thread with the least work; of a new one while all have work. */
  #take(): Slot | undefined {
    let best: ZstdThread | undefined;
    for (const thread of this.#threads)
      if (thread.free > (best?.free ?? 0)) best = thread;
    if (best?.free !== SLOTS && this.#threads.length < this.#max) {
      best = new ZstdThread((ended) => this.#remove(ended));
      this.#threads.push(best);
    }
    return best?.take();
  }

  #remove(thread: ZstdThread): void {
    const index = this.#threads.indexOf(thread);
    if (index >= 0) this.#threads.splice(index, 1);
  }
}

/** A request that a thread has, or can take. */
interface Slot {
  readonly thread: ZstdThread;
  readonly index: number;
  memory: SharedArrayBuffer;
}

interface Pending {
  readonly resolve: (output: Uint8Array) => void;
  readonly reject: (error: Error) => void;
}

class ZstdThread {
  readonly #worker = new Worker(program);
  readonly #free: Slot[];
  readonly #pending = new Map<number, Pending>();

  /** @param onEnd called when it has ended by an error */
  constructor(onEnd: (thread: ZstdThread) => void) {
    this.#free = Array.from({ length: SLOTS }, (_, index) => ({
      thread: this,
      index,
      memory: new SharedArrayBuffer(CHUNK_SIZE),
    }));
    this.#worker.unref();
    this.#worker.on("message", (answer: ZstdAnswer) => {
      this.#settle(answer);
    });
    const end = (error: Error): void => {
      onEnd(this);
      for (const { reject } of this.#pending.values()) reject(error);
      this.#pending.clear();
    };
    this.#worker.on("error", end);
    this.#worker.on("exit", (code) => {
      end(new Error(`a thread for zstd ended with exit code ${code}`));
    });
  }

  /** How many requests it can take. */
  get free(): number {
    return this.#free.length;
  }

  take(): Slot {
    return this.#free.pop()!;
  }

  release(slot: Slot): void {
    this.#free.push(slot);
  }

  /** @throws Error */
  run(slot: Slot, bytes: Uint8Array, task: ZstdTask): Promise<Uint8Array> {
    if (bytes.length > slot.memory.byteLength)
      slot.memory = new SharedArrayBuffer(bytes.length);
    const { memory, index } = slot;
    new Uint8Array(memory).set(bytes);
    const request = { slot: index, memory, length: bytes.length, task };
    return new Promise((resolve, reject) => {
      this.#pending.set(index, { resolve, reject });
      this.#worker.ref();
      this.#worker.postMessage(request satisfies ZstdRequest);
    });
  }

  #settle(answer: ZstdAnswer): void {
    const pending = this.#pending.get(answer.slot);
    this.#pending.delete(answer.slot);
    if (this.#pending.size === 0) this.#worker.unref();
    if ("error" in answer) pending?.reject(new Error(answer.error));
    else pending?.resolve(answer.output);
  }
}
