import { parentPort } from "node:worker_threads";
import {
  startProcess,
  type Worker,
  type WorkerRequest,
} from "./start-worker.js";

/*
 * A thread that starts the processes of workers. A start copies the page tables of the whole process and waits until the
 * new process runs: it blocks the calling thread for 10 to 100 ms.
 */

export type StarterRequest =
  | {
      readonly type: "start";
      readonly id: number;
      readonly request: WorkerRequest;
      readonly niceness: number | undefined;
    }
  | { readonly type: "cancel"; readonly id: number };

export type StarterAnswer = { readonly id: number } & (
  | { readonly type: "started"; readonly pid: number | undefined }
  | {
      readonly type: "progress";
      readonly figures: Readonly<Record<string, number>>;
    }
  | { readonly type: "result"; readonly result: unknown }
  | { readonly type: "error"; readonly code: string; readonly message: string }
);

const running = new Map<number, Worker>();
const send = (answer: StarterAnswer): void => parentPort!.postMessage(answer);

parentPort!.on("message", (message: StarterRequest) => {
  const { id } = message;
  if (message.type === "cancel") running.get(id)?.cancel();
  else void carryOut(message);
});

async function carryOut({
  id,
  request,
  niceness,
}: Extract<StarterRequest, { type: "start" }>): Promise<void> {
  try {
    const worker = startProcess(request, {
      niceness,
      onProgress: (figures) => send({ id, type: "progress", figures }),
    });
    running.set(id, worker);
    send({ id, type: "started", pid: worker.pid });
    send({ id, type: "result", result: await worker.result });
  } catch (error) {
    // Also of the system: a process cannot be started.
    const { code = "crashed", message } = error as NodeJS.ErrnoException;
    send({ id, type: "error", code, message });
  } finally {
    running.delete(id);
  }
}
