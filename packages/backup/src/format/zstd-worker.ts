import { parentPort } from "node:worker_threads";
import { ZstdModule } from "@xo-server/zstd";
import { carryOut } from "./zstd-task.js";
import type { ZstdAnswer, ZstdRequest } from "./zstd-threads.js";

/*
 * A thread that compresses and decompresses with zstd as WebAssembly, and opens chunks: it decrypts them before and
 * checks them after that. It computes ids of chunks as well. The bytes of a request are in
 * shared memory; those of the answer are in shared memory of the request, or transferred.
 */

const loading = ZstdModule.load();
// If it fails, each request is answered with the error.
loading.catch(() => undefined);

parentPort!.on("message", (request: ZstdRequest) => void answer(request));

async function answer({ slot, input, task }: ZstdRequest): Promise<void> {
  const send = (answer: ZstdAnswer, transfer: ArrayBuffer[] = []): void =>
    parentPort!.postMessage(answer, transfer);
  try {
    const output = carryOut(await loading, task, input);
    const { buffer } = output;
    send({ slot, output }, buffer instanceof ArrayBuffer ? [buffer] : []);
  } catch (error) {
    send({ slot, error: (error as Error).message });
  }
}
