import { execFileSync } from "node:child_process";
import { close, open } from "node:inspector";
import { startWatchdog } from "../src/lifecycle/watchdog.js";

// A program whose main thread is blocked in the way that its argument names. See watchdog.test.ts.

async function untilMore(): Promise<void> {
  await Promise.resolve();
}

const blocks: Readonly<Record<string, () => unknown>> = {
  async microtasks() {
    for (;;) await untilMore();
  },
  loop() {
    for (;;) continue;
  },
  "system call": () => execFileSync("sleep", ["10"]),
  "short blocks"() {
    let rounds = 0;
    const timer = setInterval(() => {
      block(300);
      if (++rounds === 6) clearInterval(timer);
    }, 10);
  },
  "a debugger"() {
    open(0);
    setTimeout(() => {
      block(3_000);
      close();
    }, 300);
  },
};

/** Blocks the event loop without using the CPU. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

startWatchdog({ timeoutMs: 1_200, log: { format: "json", level: "info" } });
setTimeout(blocks[process.argv[2]!]!, 300);
