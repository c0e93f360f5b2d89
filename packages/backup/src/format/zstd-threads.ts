import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { copyBytes } from "../copy-bytes.js";
import { programFile } from "../program-file.js";
import { CHUNK_SIZE } from "./limits.js";
import type { ZstdTask } from "./zstd-task.js";

export interface ZstdRequest {
  readonly slot: number;
  readonly input: Uint8Array<SharedArrayBuffer>;
  readonly task: ZstdTask;
}

export type ZstdAnswer =
  | { readonly slot: number; readonly output: Uint8Array }
  | { readonly slot: number; readonly error: string };

/** Each takes 20 to 30 MiB of memory. */
const MAX_THREADS = 3;
/** So that a thread has its next request when it ends one. */
const SLOTS = 2;
/**
 * Bytes that one thread gets before another is started. A start costs as much CPU time as some MiB, and a small
 * incremental backup ends sooner with one thread.
 */
const BYTES_BEFORE_NEXT = 8 * 1024 * 1024;

const program = programFile("zstd-worker", import.meta.url);

/** A thread as {@link ZstdThreads} uses it: a `Worker` of Node.js. */
interface ZstdWorker {
  on(event: "message", listener: (answer: ZstdAnswer) => void): unknown;
  on(
    event: "error" | "messageerror",
    listener: (error: Error) => void,
  ): unknown;
  on(event: "exit", listener: (code: number) => void): unknown;
  postMessage(request: ZstdRequest): void;
  ref(): void;
  unref(): void;
}

interface ZstdThreadsOptions {
  /** Threads at most; default: one per core, at most 3. */
  readonly max?: number;
  /** Starts a thread; default: a `Worker` with the program beside this file. */
  readonly startWorker?: () => ZstdWorker;
}

/** A call of {@link ZstdThreads.run} that is not answered yet. */
interface Call {
  readonly bytes: Uint8Array;
  readonly task: ZstdTask;
  readonly resolve: (output: Uint8Array) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Threads that run zstd as WebAssembly. They start when they are needed, and do not keep the process alive. Each call is
 * answered: by its thread, or with an error if that ends first or cannot be started. The next call starts another thread.
 */
export class ZstdThreads {
  readonly #threads: ZstdThread[] = [];
  /** Those that no thread has yet. */
  readonly #waiting: Call[] = [];
  readonly #max: number;
  readonly #startWorker: () => ZstdWorker;
  /** Of all calls that threads have got. */
  #assigned = 0;

  constructor(options: ZstdThreadsOptions = {}) {
    this.#max = options.max ?? Math.min(availableParallelism(), MAX_THREADS);
    this.#startWorker = options.startWorker ?? (() => new Worker(program));
  }

  /**
   * @param bytes not to be changed before the answer; not copied if they are in shared memory
   * @throws Error if the bytes cannot be decompressed or are not the chunk of the seal, if the thread ends before it answers, or none can be started
   */
  run(bytes: Uint8Array, task: ZstdTask): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ bytes, task, resolve, reject });
      this.#assign();
    });
  }

  /** Starts the first thread ahead of the first call. */
  prepare(): void {
    if (this.#threads.length > 0) return;
    try {
      this.#startThread();
    } catch {
      // The first call tries again, and has the error.
    }
  }

  /** Assigns waiting calls to threads at once, so that none is assigned to a thread that has ended meanwhile. */
  #assign(): void {
    while (this.#waiting.length > 0) {
      let thread: ZstdThread | undefined;
      try {
        thread = this.#choose();
      } catch (error) {
        this.#waiting.shift()!.reject(error as Error);
        continue;
      }
      if (thread === undefined) return;
      const call = this.#waiting.shift()!;
      this.#assigned += call.bytes.length;
      thread.start(call);
    }
  }

  /**
   * The thread with the least work; a new one while all have work and much was done; `undefined` if none can take a call.
   * @throws Error if a thread is needed and cannot be started
   */
  #choose(): ZstdThread | undefined {
    let best: ZstdThread | undefined;
    for (const thread of this.#threads)
      if (thread.free > (best?.free ?? 0)) best = thread;
    const most = Math.min(
      this.#max,
      1 + Math.floor(this.#assigned / BYTES_BEFORE_NEXT),
    );
    if (best?.free === SLOTS || this.#threads.length >= most) return best;
    return this.#startThread();
  }

  #startThread(): ZstdThread {
    const started = new ZstdThread(this.#startWorker(), {
      onFree: () => this.#assign(),
      onEnd: (ended) => this.#remove(ended),
    });
    this.#threads.push(started);
    return started;
  }

  #remove(thread: ZstdThread): void {
    const index = this.#threads.indexOf(thread);
    if (index >= 0) this.#threads.splice(index, 1);
  }
}

/** Room for a request. */
interface Slot {
  readonly index: number;
  /** For bytes that are not in shared memory; from the first ones on. */
  memory: SharedArrayBuffer | undefined;
}

interface ThreadListener {
  /** It can take a call again, or has ended. */
  onFree(): void;
  /** It has ended and takes no further call. Called before the calls that it had are answered. */
  onEnd(thread: ZstdThread): void;
}

class ZstdThread {
  readonly #worker: ZstdWorker;
  readonly #listener: ThreadListener;
  readonly #free: Slot[];
  readonly #pending = new Map<number, { slot: Slot; call: Call }>();

  constructor(worker: ZstdWorker, listener: ThreadListener) {
    this.#worker = worker;
    this.#listener = listener;
    this.#free = Array.from({ length: SLOTS }, (_, index) => ({
      index,
      memory: undefined,
    }));
    worker.on("message", (answer) => this.#settle(answer));
    worker.on("error", (error) => this.#end(error));
    // Its answer cannot be read: the call to which it belongs is unknown.
    worker.on("messageerror", (error) => this.#end(error));
    worker.on("exit", (code) =>
      this.#end(new Error(`a thread for zstd ended with exit code ${code}`)),
    );
    // After the listener of messages, which makes it keep the process alive.
    worker.unref();
  }

  /** How many calls it can take. */
  get free(): number {
    return this.#free.length;
  }

  /** Requires `free` above 0. An error is the answer of the call. */
  start(call: Call): void {
    const { bytes, task } = call;
    const slot = this.#free.pop()!;
    try {
      this.#worker.postMessage({
        slot: slot.index,
        input: inSharedMemory(bytes, slot),
        task,
      });
    } catch (error) {
      this.#free.push(slot);
      call.reject(error as Error);
      return;
    }
    this.#pending.set(slot.index, { slot, call });
    this.#worker.ref();
  }

  #settle(answer: ZstdAnswer): void {
    const pending = this.#pending.get(answer.slot);
    if (pending === undefined) return;
    this.#pending.delete(answer.slot);
    this.#free.push(pending.slot);
    if (this.#pending.size === 0) this.#worker.unref();
    if ("error" in answer) pending.call.reject(new Error(answer.error));
    else pending.call.resolve(answer.output);
    this.#listener.onFree();
  }

  #end(error: Error): void {
    this.#listener.onEnd(this);
    for (const { call } of this.#pending.values()) call.reject(error);
    this.#pending.clear();
    this.#worker.unref();
    this.#listener.onFree();
  }
}

function inSharedMemory(
  bytes: Uint8Array,
  slot: Slot,
): Uint8Array<SharedArrayBuffer> {
  const { buffer, byteOffset, length } = bytes;
  if (buffer instanceof SharedArrayBuffer)
    return new Uint8Array(buffer, byteOffset, length);
  if (length > (slot.memory?.byteLength ?? 0))
    slot.memory = new SharedArrayBuffer(Math.max(length, CHUNK_SIZE));
  const shared = Buffer.from(slot.memory!, 0, length);
  copyBytes(bytes, shared);
  return shared;
}
