import { setTimeout } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";

// The thread of HealthWatch: requests a URL until it receives a message, then sends
// the times in ms.

/** Pause between two requests, in ms. */
const PAUSE_MS = 20;

const url = workerData as string;
const times: number[] = [];
let isStopped = false;
parentPort!.once("message", () => (isStopped = true));
try {
  // The first one also loads the HTTP client.
  await request();
  while (!isStopped) {
    times.push(await request());
    await setTimeout(PAUSE_MS);
  }
} catch {
  // The server has stopped: the run is over.
}
parentPort!.postMessage(times);
parentPort!.close();

/** @returns ms until the response */
async function request(): Promise<number> {
  const before = performance.now();
  await (await fetch(url)).text();
  return performance.now() - before;
}
