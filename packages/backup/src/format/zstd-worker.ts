import { parentPort } from "node:worker_threads";
import { ZstdModule } from "./zstd-module.js";
import { carryOut } from "./zstd-task.js";
import type { ZstdAnswer, ZstdRequest } from "./zstd-threads.js";

/*
 * A thread that compresses and decompresses with zstd as WebAssembly, and opens chunks: it decrypts them before and
 * checks them after that. It computes ids of chunks as well. The bytes of a request are in
 * shared memory; those of the answer are in shared memory of the request, or transferred.
 */

const zstd = await ZstdModule.load();

parentPort!.on("message", ({ slot, input, task }: ZstdRequest) => {
  const send = (answer: ZstdAnswer, transfer: ArrayBuffer[] = []): void =>
    parentPort!.postMessage(answer, transfer);
  try {
    const output = carryOut(zstd, task, input);
    const { buffer } = output;
    send({ slot, output }, buffer instanceof ArrayBuffer ? [buffer] : []);
  } catch (error) {
    send({ slot, error: (error as Error).message });
  }
});
