import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Figures } from "../harness/figures.js";
import type { Simulator } from "../harness/simulator.js";
import { ServerProcess } from "../harness/server-process.js";

const OBJECTS = "xo_inventory_objects";

/** The real server loads the simulator's pool and ends; the simulator ends; the server restarts. */
export async function restartServer(simulator: Simulator): Promise<Figures> {
  const folder = await mkdtemp(join(tmpdir(), "xo-bench-server-"));
  const config = join(folder, "config.yaml");
  try {
    await writeFile(config, configText(simulator, folder));
    const objects = await load(new ServerProcess(config));
    await simulator.stop();
    return await startAgain(new ServerProcess(config), objects);
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
    await server.untilAtLeast('xo_inventory_pools{state="watching"}', 1);
    return await server.read(OBJECTS);
  } finally {
    await server.stop();
  }
}

async function startAgain(
  server: ServerProcess,
  objects: number,
): Promise<Figures> {
  try {
    const programMs = await server.listening();
    const allThereMs = await server.untilAtLeast(OBJECTS, objects);
    return { programMs, allThereMs, objects };
  } finally {
    await server.stop();
  }
}
