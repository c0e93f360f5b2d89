import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "../../running-program.js";

const run = promisify(execFile);

/** A disk of a backup as tools/read-backup.py reads it; or why it cannot be read. */
export interface ReadDisk {
  readonly backup?: string;
  readonly label?: string;
  /** SHA-256 of its content. */
  readonly hash?: string;
  readonly error?: string;
}

/** Reads all disks of all backups in a repository. */
export async function readDisks(
  folder: string,
  recoveryKey: string,
): Promise<readonly ReadDisk[]> {
  const program = join(root, "test", "faults", "backup-kills", "hash-disks.py");
  const reader = join(root, "tools", "read-backup.py");
  const { stdout } = await run(
    "python3",
    [program, reader, folder, recoveryKey],
    { maxBuffer: 2 ** 26 },
  );
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as ReadDisk);
}
