import { readdir, readFile } from "node:fs/promises";

/** Ids of processes whose home is this folder: servers, and their workers also after the server was killed. */
export async function processesIn(home: string): Promise<readonly number[]> {
  const found: number[] = [];
  for (const pid of (await readdir("/proc")).filter((one) => /^\d+$/.test(one)))
    if ((await textOf(`/proc/${pid}/environ`)).includes(`HOME=${home}\0`))
      found.push(Number(pid));
  return found;
}

/** Processes that a server has started to read disks and to write to repositories. */
export async function workersOf(server: number): Promise<readonly number[]> {
  const tasks = `/proc/${server}/task`;
  const workers: number[] = [];
  // Processes are listed with the thread that has started them.
  for (const thread of await readdir(tasks).catch(() => []))
    for (const child of (await textOf(`${tasks}/${thread}/children`)).split(
      " ",
    ))
      if (await isWorker(child)) workers.push(Number(child));
  return workers;
}

/** Those in a folder, also after their server was killed. */
export async function workersIn(home: string): Promise<readonly number[]> {
  const workers: number[] = [];
  for (const pid of await processesIn(home))
    if (await isWorker(String(pid))) workers.push(pid);
  return workers;
}

async function isWorker(pid: string): Promise<boolean> {
  return (await textOf(`/proc/${pid}/cmdline`)).includes("worker-program");
}

/** @returns whether the process still ran */
export function kill(pid: number): boolean {
  try {
    return process.kill(pid, "SIGKILL");
  } catch {
    return false;
  }
}

/** Content of a file, empty if it does not exist. */
function textOf(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}
