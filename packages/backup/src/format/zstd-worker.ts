import { parentPort } from "node:worker_threads";
import { checkChunk, decrypt } from "./chunk-seal.js";
import { ZstdModule } from "./zstd-module.js";
import type { ZstdAnswer, ZstdRequest, ZstdTask } from "./zstd-threads.js";

/*
 * A thread that compresses and decompresses with zstd as WebAssembly, and opens chunks: it decrypts them before and
 * checks them after that. The bytes of a request are in
 * shared memory; those of the answer are in shared memory of the request, or transferred.
 */

const zstd = await ZstdModule.load();

parentPort!.on("message", ({ slot, input, task }: ZstdRequest) => {
  const send = (answer: ZstdAnswer, transfer: ArrayBuffer[] = []): void =>
    parentPort!.postMessage(answer, transfer);
  try {
    const output = carryOut(task, input);
    const { buffer } = output;
    send({ slot, output }, buffer instanceof ArrayBuffer ? [buffer] : []);
  } catch (error) {
    send({ slot, error: (error as Error).message });
  }
});

function carryOut(
  task: ZstdTask,
  input: Uint8Array<SharedArrayBuffer>,
): Uint8Array<ArrayBuffer | SharedArrayBuffer> {
  switch (task.type) {
    case "compress":
      return zstd.compress(input, task.level);
    case "decompress":
      return zstd.decompress(input, task.size, task.into);
    case "open": {
      const { seal, size, into } = task;
      const plain = zstd.decompressInPlace(decrypt(seal, input), size);
      checkChunk(seal, plain, size);
      if (into === undefined || into.length < size) return plain.slice();
      into.set(plain);
      return into.subarray(0, size);
    }
  }
}
