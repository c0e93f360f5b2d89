import { startLoopProbe } from "../../measure/loop-probe.js";
import type { ProbeAnswer, ServerFigures } from "../server-figures.js";

// Loaded into the server before its program: answers requests of the parent process over the
// channel.

let end: (() => Promise<ServerFigures>) | undefined;

process.on("message", (what) => {
  void answer(what).then((answered) => process.send?.(answered));
});
// The server ends on request.
process.channel?.unref();

async function answer(what: unknown): Promise<ProbeAnswer> {
  if (what === "memory") return readMemory();
  if (what === "end" && end !== undefined) return end();
  end = begin();
  return "begun";
}

function begin(): () => Promise<ServerFigures> {
  const before = process.cpuUsage();
  const probe = startLoopProbe();
  return async () => {
    const { user, system } = process.cpuUsage(before);
    const { longestBlockMs, longestOwnBlockMs } = await probe.stop();
    return { cpuMs: (user + system) / 1000, longestBlockMs, longestOwnBlockMs };
  };
}

/** Twice: the first collection can release references to other objects. */
async function readMemory(): Promise<number> {
  for (let i = 0; i < 2; i++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return process.memoryUsage.rss();
}
