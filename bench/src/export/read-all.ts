import { once } from "node:events";
import { readFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";

export interface ReadFigures {
  readonly bytes: number;
  readonly ms: number;
  /** How much more memory the serverUnderTest had at the most than at the start. */
  readonly grownBytes: number;
}

const LOOK_MS = 20;

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
  let most = start;
  const look = setInterval(() => {
    most = Math.max(most, residentBytes(pid));
  }, LOOK_MS);
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
    return { bytes, ms, grownBytes: most - start };
  } finally {
    clearInterval(look);
  }
}

function residentBytes(pid: number): number {
  const [, kilobytes] =
    /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}
