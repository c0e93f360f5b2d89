import { createRequire } from "node:module";
import { parentPort } from "node:worker_threads";
import type { ZstdAnswer, ZstdRequest } from "./zstd-threads.js";

/*
 * A thread that compresses and decompresses with zstd as WebAssembly. The bytes of a
 * request are in shared memory; those of the answer are transferred.
 */

interface ZstdModule {
  init(): Promise<void>;
  compress(plain: Uint8Array, level: number): Uint8Array<ArrayBuffer>;
  decompress(
    stored: Uint8Array,
    options: { defaultHeapSize: number },
  ): Uint8Array<ArrayBuffer>;
}

const zstd = load();
await zstd.init();

parentPort!.on("message", (request: ZstdRequest) => {
  const { slot, memory, offset, length, task } = request;
  const send = (answer: ZstdAnswer, transfer: ArrayBuffer[] = []): void =>
    parentPort!.postMessage(answer, transfer);
  try {
    const input = new Uint8Array(memory, offset, length);
    const output =
      task.type === "compress"
        ? zstd.compress(input, task.level)
        : zstd.decompress(input, { defaultHeapSize: task.size });
    send({ slot, output }, [output.buffer]);
  } catch (error) {
    send({ slot, error: (error as Error).message });
  }
});

function load(): ZstdModule {
  const require = createRequire(import.meta.url);
  return require("@bokuweb/zstd-wasm") as ZstdModule;
}
