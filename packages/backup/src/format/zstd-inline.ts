import { setFlagsFromString } from "node:v8";
import { ZstdModule } from "@xo-server/zstd";
import { carryOut, type ZstdTask } from "./zstd-task.js";
import { ZstdThreads } from "./zstd-threads.js";

/** More is faster with threads and optimized code. */
const MAX_BYTES = 64 * 1024 * 1024;

interface ZstdInlineOptions {
  /** Of uncompressed chunks; default 64 MiB. */
  readonly maxBytes?: number;
  readonly startThreads?: () => ZstdThreads;
}

/**
 * zstd as WebAssembly in this thread, for a few MiB: the start of a thread and the compilation of optimized code
 * take longer than the work. Hands over to threads if there is more than was expected.
 */
export class ZstdInline {
  readonly #maxBytes: number;
  readonly #startThreads: () => ZstdThreads;
  #zstd: Promise<ZstdModule> | undefined;
  #threads: ZstdThreads | undefined;
  #bytes = 0;

  constructor({
    maxBytes = MAX_BYTES,
    startThreads = () => new ZstdThreads(),
  }: ZstdInlineOptions = {}) {
    this.#maxBytes = maxBytes;
    this.#startThreads = startThreads;
  }

  /** Loads zstd ahead of the first call. */
  prepare(): void {
    if (this.#zstd !== undefined) return;
    setOptimizing(false);
    this.#zstd = ZstdModule.load({ isShared: false });
    // The first call has the error.
    this.#zstd.catch(() => undefined);
  }

  /** As `ZstdThreads.run`. */
  async run(bytes: Uint8Array, task: ZstdTask): Promise<Uint8Array> {
    this.#bytes += "size" in task ? task.size : bytes.length;
    if (this.#bytes > this.#maxBytes) return this.#handOver().run(bytes, task);
    this.prepare();
    return carryOut(await this.#zstd!, task, bytes);
  }

  #handOver(): ZstdThreads {
    if (this.#threads === undefined) {
      setOptimizing(true);
      this.#threads = this.#startThreads();
    }
    return this.#threads;
  }
}

/**
 * Whether V8 compiles WebAssembly that runs often a second time: 0.15 to 0.25 CPU s for zstd, as much as the faster code
 * saves of 15 MiB. Functions are compiled when they are first called, in any thread of this process.
 */
function setOptimizing(isOptimizing: boolean): void {
  const prefix = isOptimizing ? "--" : "--no-";
  setFlagsFromString(`${prefix}wasm-tier-up`);
  setFlagsFromString(`${prefix}wasm-dynamic-tiering`);
}
