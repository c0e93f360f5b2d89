import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Figures } from "./figures.js";

interface ChildOptions {
  /** The compiled program, seen from `bench/dist/src/`, for example `measure/download.js`. */
  readonly program: string;
  /**
   * The job of the process; passed by stdin, so that no password is visible in a list of processes.
   */
  readonly job: object;
  readonly timeoutMs: number;
  /** More options for node, for example `--cpu-prof`. */
  readonly nodeOptions?: readonly string[];
}

/**
 * Runs one measurement in a new process and reads the figures from the last line of its stdout.
 * @throws Error when it ends without figures or takes longer than `timeoutMs`; the message holds
 *   the end of its stderr
 */
export async function measureInChild(options: ChildOptions): Promise<Figures> {
  const path = fileURLToPath(new URL(`../${options.program}`, import.meta.url));
  const child = spawn(
    process.execPath,
    ["--expose-gc", ...(options.nodeOptions ?? []), path],
    { stdio: ["pipe", "pipe", "pipe"] },
  );
  const output: Buffer[] = [];
  const errorOutput: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => errorOutput.push(chunk));
  // A child that dies before it has read its job is reported by its exit.
  child.stdin.on("error", () => undefined);
  child.stdin.end(JSON.stringify(options.job));
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    child.kill("SIGKILL");
  }, options.timeoutMs);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  }).finally(() => clearTimeout(timer));
  if (timedOut)
    throw new Error(`no result within ${options.timeoutMs / 1000} s`);
  const figures = lastFigures(Buffer.concat(output).toString());
  if (code === 0 && figures !== undefined) return figures;
  throw new Error(
    lastReason(Buffer.concat(errorOutput).toString()) ?? `exit code ${code}`,
  );
}

function lastFigures(stdout: string): Figures | undefined {
  const line = stdout.trimEnd().split("\n").at(-1) ?? "";
  if (!line.startsWith('{"figures":')) return undefined;
  return (JSON.parse(line) as { figures: Figures }).figures;
}

function lastReason(stderr: string): string | undefined {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "");
  return (
    lines.findLast((line) =>
      /^(\w*Error\b|failed:|[\w.]+: Timeout\b)/.test(line),
    ) ?? lines.at(-1)
  )?.slice(0, 300);
}
