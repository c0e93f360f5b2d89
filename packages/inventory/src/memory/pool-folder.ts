import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Disk } from "./disk.js";

const FILE = /^(\d{1,9})\.frames$/;
/** What may be deleted: nothing else is ours. */
const OURS = /^\d{1,9}\.frames(?:\.new)?$/;

/**
 * A pool's files: `<generation>.frames`, of which the highest counts, and
 * `<generation>.frames.new` while it is being written.
 */
export class PoolFolder {
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

  /** Makes the folder and removes what an earlier run left half done. Resolves with the generation that counts; 0: none. */
  async prepare(): Promise<number> {
    await this.#disk.mkdir(this.#path, { recursive: true, mode: 0o700 });
    const names = await this.#disk.readdir(this.#path);
    const current = names.reduce(
      (most, name) => Math.max(most, Number(FILE.exec(name)?.[1] ?? 0)),
      0,
    );
    await this.#removeAllBut(current, names);
    return current;
  }

  /** The new file, written and synced, takes the place of the others: after a power cut there is the one or the other. */
  async switchTo(generation: number): Promise<void> {
    await this.#disk.rename(
      this.newPathOf(generation),
      this.pathOf(generation),
    );
    try {
      await this.#sync();
      await this.#removeAllBut(
        generation,
        await this.#disk.readdir(this.#path),
      );
    } catch {
      // It has switched. Not every file system syncs folders; what is left over goes the next time.
    }
  }

  async discardNew(generation: number): Promise<void> {
    await this.#disk.rm(this.newPathOf(generation), { force: true });
  }

  /** All that is ours goes. */
  async delete(): Promise<void> {
    await deleteFolder(this.#disk, this.#path);
  }

  async #removeAllBut(
    generation: number,
    names: readonly string[],
  ): Promise<void> {
    for (const name of names)
      if (OURS.test(name) && name !== `${generation}.frames`)
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

/** Deletes a pool's folder; one with foreign files in it stays, without ours. */
export async function deleteFolder(disk: Disk, path: string): Promise<void> {
  try {
    for (const name of await disk.readdir(path))
      if (OURS.test(name)) await disk.rm(join(path, name), { force: true });
    await disk.rmdir(path);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (!["ENOENT", "ENOTEMPTY", "ENOTDIR"].includes(code)) throw error;
  }
}

/** The id where it is a plain name, else a name that stands for it. */
export function folderName(poolId: string): string {
  return /^[a-z0-9][a-z0-9.-]{0,99}$/.test(poolId)
    ? poolId
    : `_${createHash("sha256").update(poolId).digest("hex").slice(0, 32)}`;
}
