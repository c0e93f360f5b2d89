import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";

/** What a command cost. */
export interface Cost {
  readonly ms: number;
  /** User and system time of the command and its children. */
  readonly cpuMs: number;
  /** The most memory of one of its processes, sampled. */
  readonly rssMib: number;
  readonly stdout: string;
  /** Bytes of the image that were read, where the command reports it. */
  readonly read?: number;
}

interface CommandOptions {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const SAMPLE_MS = 20;

/** Runs a script of bash and measures it. @throws Error with its output if it fails */
export function measureScript(
  script: string,
  { stdin, env = {} }: CommandOptions = {},
): Promise<Cost> {
  // The braces are in the shell itself, so that stderr of the script and the times are apart.
  const text = `set -o pipefail; TIMEFORMAT='times %U %S'; time { ${script}\n}`;
  const child = spawn("bash", ["-c", text], {
    env: { ...inherited(), LC_ALL: "C", ...env },
  });
  const start = performance.now();
  let rssMib = 0;
  const timer = setInterval(() => {
    rssMib = Math.max(rssMib, ...childrenOf(child.pid!).map(peakMib));
  }, SAMPLE_MS);
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (some: string) => {
    stdout += some;
  });
  child.stderr.setEncoding("utf8").on("data", (some: string) => {
    stderr += some;
  });
  // A line of input, then open until the command ends: its end would cancel a worker.
  if (stdin === undefined) child.stdin.end();
  else child.stdin.write(`${stdin}\n`);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      clearInterval(timer);
      const ms = performance.now() - start;
      const times = /times ([\d.]+) ([\d.]+)/.exec(stderr);
      if (code !== 0 || times === null)
        reject(new Error(`${script}: ${stderr.trim()} ${stdout.trim()}`));
      else {
        const cpuMs = (Number(times[1]) + Number(times[2])) * 1000;
        resolve({ ms, cpuMs, rssMib, stdout });
      }
    });
  });
}

/**
 * Without the variable by which each process of Node.js parses further certificates while it starts: 0.13 CPU s for
 * those of Debian, more than twice of all else. It belongs to the machine and not to the program.
 */
function inherited(): NodeJS.ProcessEnv {
  const env = { ...process.env };
  delete env["NODE_EXTRA_CA_CERTS"];
  return env;
}

/** Whether there is a command of this name. */
export function isInstalled(command: string): boolean {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.some((folder) => existsSync(join(folder, command)));
}

function childrenOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
    return text.trim().split(" ").filter(Boolean).map(Number);
  } catch {
    // The process has ended.
    return [];
  }
}

function peakMib(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    // The process has ended.
    return 0;
  }
}
