import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Figures } from "../harness/figures.js";
import { processCpuMs } from "../harness/process-cpu.js";
import { toCib } from "./cib.js";
import type { PacemakerJob } from "./placement-job.js";

/** Debian installs it in a directory for administrators. */
const PATH = `${process.env["PATH"] ?? ""}:/usr/sbin:/usr/local/sbin`;
const PROGRAM = "crm_simulate";
const CPU_POLL_MS = 50;

/** Such as "2.1.5"; undefined where the program is not installed. */
export function pacemakerVersion(): string | undefined {
  const { stdout, error } = spawnSync(PROGRAM, ["--version"], {
    env: { ...process.env, PATH },
    encoding: "utf8",
  });
  if (error !== undefined) return undefined;
  return /^Pacemaker (\S+)/.exec(stdout)?.[1];
}

/**
 * Runs Pacemaker's policy engine on the scenario: all starts, and the actions
 * after the loss of a node.
 * @throws Error when it fails or exceeds its time limit
 */
export async function measurePacemaker({
  scenario,
  timeoutMs,
}: PacemakerJob): Promise<Figures> {
  const folder = await mkdtemp(join(tmpdir(), "xo-bench-cib-"));
  try {
    const run = async (name: string, cib: string) => {
      const file = join(folder, name);
      await writeFile(file, cib);
      return simulate(file, timeoutMs);
    };
    const full = await run("full.xml", toCib(scenario, {}));
    const out = scenario.hosts >> 1;
    const one = await run("out.xml", toCib(scenario, { out }));
    return {
      ms: full.ms,
      cpuMs: full.cpuMs,
      placed: full.starts,
      outMs: one.ms,
      outCpuMs: one.cpuMs,
      restarts: one.starts,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** `--run`: what the cluster would do, without doing it. */
async function simulate(file: string, timeoutMs: number) {
  const start = performance.now();
  const child = spawn(PROGRAM, ["--xml-file", file, "--run"], {
    env: { ...process.env, PATH },
    timeout: timeoutMs,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const output: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
  let cpuMs = 0;
  // Not available after the process has ended.
  const poll = setInterval(() => {
    const now = processCpuMs(child.pid!);
    if (now > cpuMs) cpuMs = now;
  }, CPU_POLL_MS);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  }).finally(() => clearInterval(poll));
  const ms = performance.now() - start;
  if (code !== 0) throw new Error(`${PROGRAM} ended with ${code}`);
  const text = Buffer.concat(output).toString();
  return { ms, cpuMs, starts: text.match(/^ {2}\* Start /gm)?.length ?? 0 };
}
