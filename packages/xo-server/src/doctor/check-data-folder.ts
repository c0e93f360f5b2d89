import type { Stats } from "node:fs";
import { access, constants, readdir, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { failed, ok, warning, type Result } from "./finding.js";

const MIB = 1024 * 1024;
/**
 * Free space for a warning: a migration or a busy day may fill the disk. Below the
 * second limit, changes fail soon.
 */
const LITTLE_SPACE = 1024 * MIB;
const NO_SPACE = 100 * MIB;

/** Checks owner, mode and content of the data folder. */
export async function checkDataFolder(dataDir: string): Promise<Result[]> {
  const found = await statOf(dataDir);
  if (found === undefined) return [await checkMissing(dataDir)];
  if (!found.isDirectory())
    return [failed(`${dataDir} is not a folder`, "change dataDir, or move it")];
  const results = [...(await checkAccess(dataDir, found))];
  for (const name of await readdir(dataDir).catch(() => []))
    results.push(...(await checkFile(join(dataDir, name))));
  return results.length > 0 ? results : [ok(`${dataDir} is private, writable`)];
}

/** A start creates the folder, and those that it is in. */
async function checkMissing(dataDir: string): Promise<Result> {
  let parent = dirname(dataDir);
  while ((await statOf(parent)) === undefined && parent !== dirname(parent))
    parent = dirname(parent);
  try {
    await access(parent, constants.W_OK | constants.X_OK);
    return warning(
      `${dataDir} does not exist`,
      "the first start creates it; after the first start: check dataDir and --data",
    );
  } catch {
    return failed(
      `${dataDir} does not exist, and this user (${process.getuid?.() ?? ""}) may not create it in ${parent}`,
      "create it for the user of the service, or change dataDir",
    );
  }
}

async function checkAccess(folder: string, found: Stats): Promise<Result[]> {
  const results: Result[] = [];
  const mode = found.mode & 0o777;
  if ((mode & 0o077) !== 0)
    results.push(
      warning(
        `other users can enter ${folder} (mode 0${mode.toString(8)})`,
        `chmod 700 ${folder}`,
      ),
    );
  try {
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const isReadOnly = (error as NodeJS.ErrnoException).code === "EROFS";
    // The only other error is EACCES: the folder exists.
    results.push(
      isReadOnly
        ? failed(
            `the file system of ${folder} is read-only`,
            "mount it read-write; after an error of the disk: see dmesg",
          )
        : failed(
            `${folder} is not readable and writable for this user (${process.getuid?.() ?? ""}); it belongs to user ${found.uid}`,
            `call xo-server as the user of the service, or: chown -R USER ${folder}`,
          ),
    );
  }
  return results;
}

/**
 * A file of another user, for example after a command of root, prevents the start
 * of the server.
 */
async function checkFile(path: string): Promise<Result[]> {
  const found = await statOf(path);
  const user = process.getuid?.();
  if (found === undefined || user === undefined) return [];
  const results: Result[] = [];
  if (found.uid !== user)
    results.push(
      failed(
        `${path} belongs to user ${found.uid}, this is user ${user}`,
        `run xo-server as the user of the service, or: chown ${user} ${path}`,
      ),
    );
  if (/\.(key|db)$/.test(path) && (found.mode & 0o077) !== 0)
    results.push(failed(`other users can read ${path}`, `chmod 600 ${path}`));
  return results;
}

/** Checks the free space for the data. */
export async function checkSpace(dataDir: string): Promise<Result[]> {
  try {
    const { bavail, bsize } = await statfs(dataDir);
    const free = bavail * bsize;
    const text = `${Math.floor(free / MIB)} MiB are free in ${dataDir}`;
    const remedy =
      "free space, or move dataDir; the audit log can be pruned: xo-server audit prune";
    if (free < NO_SPACE) return [failed(text, remedy)];
    if (free < LITTLE_SPACE) return [warning(text, remedy)];
    return [ok(text)];
  } catch {
    // checkDataFolder reports this error.
    return [];
  }
}

function statOf(path: string): Promise<Stats | undefined> {
  // Missing, or not accessible: both are reported as missing.
  return stat(path).catch(() => undefined);
}
