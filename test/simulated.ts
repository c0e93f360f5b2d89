import type { Test } from "tap";
import { RunningProgram } from "./running-program.js";

/** A pool of xapi-sim, as the simulator describes itself. */
export interface Simulated {
  readonly name: string;
  readonly url: string;
  readonly user: string;
  readonly password: string;
  readonly objects: number;
}

/** One small simulated pool in a process of its own. */
export async function simulate(
  t: Test,
  ...args: string[]
): Promise<readonly Simulated[]> {
  return (await simulateIn(t, ...args)).pools;
}

/** With the process, to end it. @param args `--pool` replaces the pool C */
export async function simulateIn(
  t: Test,
  ...args: string[]
): Promise<{
  readonly program: RunningProgram;
  readonly pools: readonly Simulated[];
}> {
  const program = new RunningProgram(t, "xapi-sim", [
    ...(args.includes("--pool") ? [] : ["--pool", "C"]),
    "--json",
    "--prepare",
    "json",
    ...args,
  ]);
  const line = await program.find(/^\{"pools":.*/);
  return { program, ...(JSON.parse(line) as { pools: Simulated[] }) };
}

export async function setFault(
  { url }: Simulated,
  name: string,
  setting: object | boolean,
): Promise<void> {
  const answer = await fetch(`${url}/sim/faults`, {
    method: "POST",
    body: JSON.stringify({ [name]: setting }),
  });
  if (!answer.ok) throw new Error(`${name}: ${await answer.text()}`);
}

export async function isOn({ url }: Simulated, name: string): Promise<boolean> {
  const { faults } = (await (await fetch(`${url}/sim`)).json()) as {
    faults: Record<string, unknown>;
  };
  return Object.hasOwn(faults, name);
}
