import { createPublicKey } from "node:crypto";
import { createInterface } from "node:readline";
import { RepositoryError } from "../errors.js";
import { toFailure } from "./order-failure.js";
import { runOrder } from "./run-order.js";
import { openWorkOrder } from "./work-order.js";

/*
 * The program of a worker process.
 *
 *   node worker-program.js PUBLIC_KEY    Ed25519, SPKI in DER, base64
 *
 * stdin: one line with a signed order, then one for the answer to each question;
 * its end, or SIGTERM, cancels the work.
 * stdout: lines of JSON: `progress` at most twice a second, `question`, then one
 * `result` or `error`. The exit code is 0 after a result.
 */
const PROGRESS_MS = 500;

const controller = new AbortController();
process.once("SIGTERM", () => controller.abort());

const lines = createInterface({ input: process.stdin });
let isStarted = false;
let onAnswer: (answer: unknown) => void = () => undefined;
lines.on("line", (line) => {
  if (isStarted) {
    onAnswer(parse(line));
    return;
  }
  isStarted = true;
  void work(line);
});
lines.on("close", () => {
  if (isStarted) controller.abort();
  else process.exitCode = 1;
});

async function work(line: string): Promise<void> {
  let last = -Infinity;
  try {
    const der = Buffer.from(process.argv[2] ?? "", "base64");
    const key = createPublicKey({ key: der, format: "der", type: "spki" });
    const order = openWorkOrder(parse(line), { key, now: Date.now() });
    const result = await runOrder(order, {
      signal: controller.signal,
      onProgress(figures) {
        const now = performance.now();
        if (now - last < PROGRESS_MS) return;
        last = now;
        send({ type: "progress", figures });
      },
      request: (question) =>
        new Promise((resolve, reject) => {
          onAnswer = resolve;
          controller.signal.addEventListener("abort", () =>
            reject(new Error("cancelled")),
          );
          send({ type: "question", question });
        }),
    });
    send({ type: "result", result });
  } catch (error) {
    send({ type: "error", ...describe(error) });
    process.exitCode = 1;
  }
  lines.close();
  process.stdin.destroy();
}

/** @throws RepositoryError without the text: it may hold secrets */
function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new RepositoryError("invalid", "work order: it is not JSON");
  }
}

function describe(error: unknown): { code: string; message: string } {
  if (controller.signal.aborted)
    return { code: "cancelled", message: "the operation was cancelled" };
  return toFailure(error);
}

function send(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
