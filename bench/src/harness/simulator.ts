import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { repositoryRoot } from "./repository.js";

/** A pool that can be measured. */
export interface PoolAddress {
  readonly name: string;
  readonly url: string;
  readonly user: string;
  readonly password: string;
}

export interface Simulator {
  readonly pools: readonly PoolAddress[];
  readonly pid: number;
  stop(): Promise<void>;
}

/**
 * Starts `bin/xapi-sim` in a process of its own; it ends with this process.
 * @throws Error when it ends before it is ready
 */
export async function startSimulator(
  args: readonly string[],
): Promise<Simulator> {
  const child = spawn(
    process.execPath,
    [
      join(repositoryRoot, "bin", "xapi-sim"),
      ...args,
      "--json",
      "--exit-with-parent",
    ],
    { stdio: ["pipe", "pipe", "pipe"] },
  );
  let errorOutput = "";
  child.stderr.on("data", (chunk: Buffer) => {
    errorOutput = (errorOutput + chunk.toString()).slice(-1000);
  });
  const ended = once(child, "close");
  const ready = new Promise<PoolAddress[]>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () =>
      reject(new Error(`the simulator ended: ${errorOutput.trim()}`)),
    );
    createInterface(child.stdout).on("line", (line) => {
      if (line.startsWith('{"pools":'))
        resolve((JSON.parse(line) as { pools: PoolAddress[] }).pools);
    });
  });
  const pools = await ready;
  return {
    pools,
    pid: child.pid!,
    async stop() {
      child.stdin.end();
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** Starts a simulator for as long as `use` runs. */
export async function withSimulator<T>(
  args: readonly string[],
  use: (simulator: Simulator) => Promise<T>,
): Promise<T> {
  const simulator = await startSimulator(args);
  try {
    return await use(simulator);
  } finally {
    await simulator.stop();
  }
}
