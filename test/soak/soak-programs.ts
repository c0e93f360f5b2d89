import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  RunningProgram,
  type ProgramOwner,
  type ProgramOptions,
} from "../running-program.js";
import type { Simulated } from "../simulated.js";

/** The environment that the packages set. */
export const PACKAGE_ENVIRONMENT = { MALLOC_TRIM_THRESHOLD_: "131072" };

export interface StartedServer {
  readonly program: RunningProgram;
  readonly url: string;
  readonly pid: number;
}

/** @param names profiles such as `C` @param churn changes a second of each */
export async function startPools(
  owner: ProgramOwner,
  names: readonly string[],
  churn: string,
): Promise<readonly Simulated[]> {
  const args = [
    ...names.flatMap((name) => ["--pool", name]),
    "--json",
    "--prepare",
    "json",
    "--churn",
    churn,
  ];
  const program = new RunningProgram(owner, "xapi-sim", args);
  const line = await program.find(/^\{"pools":.*/);
  return (JSON.parse(line) as { pools: Simulated[] }).pools;
}

/** A server over these pools, whose administrator has this password. */
export async function startServer(
  owner: ProgramOwner,
  pools: readonly Simulated[],
  { env, ...options }: ProgramOptions & { readonly password: string },
): Promise<StartedServer> {
  const lines = pools.map(
    ({ url, password }, i) =>
      `  - { label: P${i}, hosts: ["${url}"], password: ${password} }`,
  );
  const folder = owner.testdir();
  await writeFile(join(folder, "config.yaml"), ["pools:", ...lines].join("\n"));
  const args = ["start", "--host", "127.0.0.1", "--port", "0"];
  const program = new RunningProgram(owner, "xo-server", args, {
    ...options,
    cwd: folder,
    env: { ...env, XO_ADMIN_PASSWORD: options.password },
  });
  const url = await program.find(/Web server listening on (http:\S+)/);
  // `env`, which starts the program, is replaced by it.
  return { program, url, pid: program.child.pid! };
}
