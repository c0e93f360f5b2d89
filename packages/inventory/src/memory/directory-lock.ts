import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Disk } from "./disk.js";

/** No folder of a pool is called so. */
const NAME = ".lock";

/** A process, told apart from a later one with the same number. */
interface Owner {
  readonly pid: number;
  /** When it was started, where the system tells. */
  readonly started?: string;
}

export interface DirectoryLock {
  release(): Promise<void>;
}

/**
 * Takes a directory for this process; made if it is not there. A lock whose
 * process is gone (killed, power cut) is taken over.
 * @returns undefined: another process that runs has it
 */
export async function lockDirectory(
  disk: Disk,
  directory: string,
): Promise<DirectoryLock | undefined> {
  await disk.mkdir(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, NAME);
  const own = JSON.stringify(await ownerOf(process.pid));
  for (let attempt = 0; attempt < 3; attempt++) {
    if (await create(disk, path, own))
      return { release: () => disk.rm(path, { force: true }) };
    const found = await read(disk, path);
    if (found !== undefined && (await isRunning(found))) return undefined;
    await removeStale(disk, path, found);
  }
  return undefined;
}

async function create(
  disk: Disk,
  path: string,
  text: string,
): Promise<boolean> {
  try {
    const file = await disk.open(path, "wx", 0o600);
    try {
      await file.writeFile(text);
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Moves it away first: of two who find it stale, one has it; who got hold of another's new one puts that back. */
async function removeStale(
  disk: Disk,
  path: string,
  stale: string | undefined,
): Promise<void> {
  const aside = `${path}.${process.pid}`;
  try {
    await disk.rename(path, aside);
    if ((await read(disk, aside)) === stale) await disk.rm(aside);
    else await disk.rename(aside, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

async function read(disk: Disk, path: string): Promise<string | undefined> {
  try {
    return await disk.readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function isRunning(text: string): Promise<boolean> {
  let owner: Owner;
  try {
    owner = JSON.parse(text) as Owner;
    process.kill(owner.pid, 0);
  } catch (error) {
    // There, and somebody else's.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  // In a container every run of the server has the same number.
  return owner.started === (await ownerOf(owner.pid)).started;
}

/** `started`: the boot and the clock tick, by Linux's /proc; elsewhere the number has to do. */
async function ownerOf(pid: number): Promise<Owner> {
  try {
    const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8");
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    // The command, in brackets, may hold anything; field 22 of proc(5) is the 20th behind it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { pid, started: `${boot.trim()} ${fields[19]}` };
  } catch {
    return { pid };
  }
}
