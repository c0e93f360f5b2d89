import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Disk } from "./disk.js";

const CURRENT_FILE = /^(\d{1,9})\.frames$/;
/**
 * Files that may be deleted; all others in the folder were not written by
 * xo-server.
 */
const OWN_FILES = /^\d{1,9}\.frames(?:\.new)?$/;

/**
 * The snapshot files of a pool: `<generation>.frames`, of which the highest
 * generation is the current one, and `<generation>.frames.new` while it is
 * being written.
 */
export class SnapshotFolder {
  readonly #disk: Disk;
  readonly #path: string;

  constructor(disk: Disk, directory: string, poolId: string) {
    this.#disk = disk;
    this.#path = join(directory, folderName(poolId));
  }

  pathOf(generation: number): string {
    return join(this.#path, `${generation}.frames`);
  }

  newPathOf(generation: number): string {
    return `${this.pathOf(generation)}.new`;
  }

  /**
   * Creates the folder and removes what an earlier run left incomplete.
   * Resolves with the current generation; 0 when there is none.
   */
  async prepare(): Promise<number> {
    await this.#disk.mkdir(this.#path, { recursive: true, mode: 0o700 });
    const names = await this.#disk.readdir(this.#path);
    const current = names.reduce(
      (most, name) => Math.max(most, Number(CURRENT_FILE.exec(name)?.[1] ?? 0)),
      0,
    );
    await this.#removeAllExcept(current, names);
    return current;
  }

  /**
   * Renames the new file, which must be complete and synced, and removes all
   * others. After a power failure either the old or the new file is current.
   */
  async switchTo(generation: number): Promise<void> {
    await this.#disk.rename(
      this.newPathOf(generation),
      this.pathOf(generation),
    );
    try {
      await this.#sync();
      await this.#removeAllExcept(
        generation,
        await this.#disk.readdir(this.#path),
      );
    } catch {
      // The rename has succeeded. Not every file system can sync folders; old
      // files are removed by the next `prepare`.
    }
  }

  async discardNew(generation: number): Promise<void> {
    await this.#disk.rm(this.newPathOf(generation), { force: true });
  }

  /** Removes all snapshot files, and the folder if it is empty then. */
  async delete(): Promise<void> {
    await deleteFolder(this.#disk, this.#path);
  }

  async #removeAllExcept(
    generation: number,
    names: readonly string[],
  ): Promise<void> {
    for (const name of names)
      if (OWN_FILES.test(name) && name !== `${generation}.frames`)
        await this.#disk.rm(join(this.#path, name), { force: true });
  }

  async #sync(): Promise<void> {
    const folder = await this.#disk.open(this.#path, "r");
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }
}

/**
 * Deletes a pool's folder. A folder with other files stays; only the snapshot
 * files in it are deleted.
 */
export async function deleteFolder(disk: Disk, path: string): Promise<void> {
  try {
    for (const name of await disk.readdir(path))
      if (OWN_FILES.test(name))
        await disk.rm(join(path, name), { force: true });
    await disk.rmdir(path);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (!["ENOENT", "ENOTEMPTY", "ENOTDIR"].includes(code)) throw error;
  }
}

/** The pool id if it is a plain file name, otherwise `_` and a hash of it. */
export function folderName(poolId: string): string {
  return /^[a-z0-9][a-z0-9.-]{0,99}$/.test(poolId)
    ? poolId
    : `_${createHash("sha256").update(poolId).digest("hex").slice(0, 32)}`;
}
