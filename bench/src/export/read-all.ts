import { once } from "node:events";
import { readFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";

interface ReadFigures {
  readonly bytes: number;
  readonly ms: number;
  /** Increase of the memory (RSS) of the measured process, at most. */
  readonly grownBytes: number;
}

const SAMPLE_MS = 20;

/**
 * Downloads everything, and measures the memory of the transferring process.
 * @param pid of that process
 */
export async function readAll(
  url: string,
  headers: Readonly<Record<string, string>>,
  pid: number,
): Promise<ReadFigures> {
  const start = residentBytes(pid);
  let maximum = start;
  const sampling = setInterval(() => {
    maximum = Math.max(maximum, residentBytes(pid));
  }, SAMPLE_MS);
  const startedAt = performance.now();
  try {
    const request = get(url, { headers });
    const [answer] = (await once(request, "response")) as [IncomingMessage];
    if (answer.statusCode !== 200) throw new Error(`${answer.statusCode}`);
    let bytes = 0;
    answer.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    await once(answer, "end");
    const ms = performance.now() - startedAt;
    return { bytes, ms, grownBytes: maximum - start };
  } finally {
    clearInterval(sampling);
  }
}

function residentBytes(pid: number): number {
  const [, kilobytes] =
    /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}
