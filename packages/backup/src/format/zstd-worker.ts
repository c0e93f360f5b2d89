import { parentPort } from "node:worker_threads";
import { ZstdModule } from "./zstd-module.js";
import type { ZstdAnswer, ZstdRequest } from "./zstd-threads.js";

/*
 * A thread that compresses and decompresses with zstd as WebAssembly. The bytes of a request are in
 * shared memory; those of the answer are in shared memory of the request, or transferred.
 */

const zstd = await ZstdModule.load();

parentPort!.on("message", ({ slot, input, task }: ZstdRequest) => {
  const send = (answer: ZstdAnswer, transfer: ArrayBuffer[] = []): void =>
    parentPort!.postMessage(answer, transfer);
  try {
    const output =
      task.type === "compress"
        ? zstd.compress(input, task.level)
        : zstd.decompress(input, task.size, task.into);
    const { buffer } = output;
    send({ slot, output }, buffer instanceof ArrayBuffer ? [buffer] : []);
  } catch (error) {
    send({ slot, error: (error as Error).message });
  }
});
