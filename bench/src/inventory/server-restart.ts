import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Figures } from "../harness/figures.js";
import type { Simulator } from "../harness/simulator.js";
import { ServerProcess } from "./server-process.js";

/** A pool is loaded when no object has come for so long. */
const QUIET_MS = 1500;

/** The real server loads the simulator's pool and ends; the simulator ends; the server comes back. */
export async function restartServer(simulator: Simulator): Promise<Figures> {
  const folder = await mkdtemp(join(tmpdir(), "xo-bench-server-"));
  const config = join(folder, "config.yaml");
  try {
    await writeFile(config, configText(simulator, folder));
    const objects = await load(new ServerProcess(config));
    await simulator.stop();
    return await comeBack(new ServerProcess(config), objects);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function configText({ pools }: Simulator, folder: string): string {
  const [{ name, url, user, password }] = pools as [(typeof pools)[number]];
  const pool = { label: name, hosts: [url], user, password };
  return JSON.stringify({ dataDir: join(folder, "data"), pools: [pool] });
}

async function load(server: ServerProcess): Promise<number> {
  try {
    let objects = 0;
    for (;;) {
      await setTimeout(QUIET_MS);
      const now = await server.objects();
      if (now > 0 && now === objects) return now;
      objects = now;
    }
  } finally {
    await server.stop();
  }
}

async function comeBack(
  server: ServerProcess,
  objects: number,
): Promise<Figures> {
  try {
    const programMs = await server.listening();
    const allThereMs = await server.untilObjects(objects);
    return { programMs, allThereMs, objects };
  } finally {
    await server.stop();
  }
}
