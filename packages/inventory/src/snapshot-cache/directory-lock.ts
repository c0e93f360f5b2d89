import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Disk } from "./disk.js";

/** Name of the lock file. `folderName` never returns it for a pool. */
const NAME = ".lock";

/**
 * Identifies a process; `started` distinguishes it from a later process with
 * the same pid.
 */
interface Owner {
  readonly pid: number;
  /** Boot id and start time of the process; absent where /proc is not available. */
  readonly started?: string;
}

export interface DirectoryLock {
  release(): Promise<void>;
}

/**
 * Locks a directory for this process and creates it if needed. The lock of a
 * process that no longer runs (killed, power failure) is taken over.
 *
 * Not proper-lockfile: it takes over a lock whose mtime is not updated in time,
 * which also happens to a process that is blocked or in a paused VM. Pid and
 * start time are exact and need no timer.
 * @returns undefined when another running process holds the lock
 */
export async function lockDirectory(
  disk: Disk,
  directory: string,
): Promise<DirectoryLock | undefined> {
  await disk.mkdir(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, NAME);
  const own = JSON.stringify(await ownerOf(process.pid));
  for (let attempt = 0; attempt < 3; attempt++) {
    if (await tryCreate(disk, path, own))
      return { release: () => disk.rm(path, { force: true }) };
    const found = await readIfPresent(disk, path);
    if (found !== undefined && (await isRunning(found))) return undefined;
    await removeStale(disk, path, found);
  }
  return undefined;
}

/** `wx`: fails when the file exists, so that exactly one process creates it. */
async function tryCreate(
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

/**
 * Removes a stale lock file. The file is renamed first: rename is atomic, so
 * that only one of several processes gets it. If the renamed file turns out to
 * be a new lock of another process, it is renamed back.
 */
async function removeStale(
  disk: Disk,
  path: string,
  stale: string | undefined,
): Promise<void> {
  const renamedPath = `${path}.${process.pid}`;
  try {
    await disk.rename(path, renamedPath);
    if ((await readIfPresent(disk, renamedPath)) === stale)
      await disk.rm(renamedPath);
    else await disk.rename(renamedPath, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

async function readIfPresent(
  disk: Disk,
  path: string,
): Promise<string | undefined> {
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
    // EPERM: the process exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  // In a container every run of the server may have the same pid: compare the
  // start time, too.
  return owner.started === (await ownerOf(owner.pid)).started;
}

/**
 * `started` is the boot id and the start time in clock ticks (proc(5), Linux).
 * Elsewhere only the pid is compared.
 */
async function ownerOf(pid: number): Promise<Owner> {
  try {
    const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8");
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    // The command in parentheses may contain any character; field 22 of proc(5)
    // is the 20th after it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { pid, started: `${boot.trim()} ${fields[19]}` };
  } catch {
    return { pid };
  }
}
