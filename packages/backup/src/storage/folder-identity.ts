import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { FolderError } from "./folder-error.js";

/** Identifies the repository when a file system is mounted again, with another device number. */
const MARKER = "repository.json";

interface Identity {
  readonly device: bigint;
  readonly inode: bigint;
  /** Absent in a folder in which the repository is being created. */
  readonly marker: Buffer | undefined;
}

/**
 * Notices that a path has become another folder: once a file system is unmounted, its mount point is an
 * empty folder of the system disk, where files would be created and missed.
 */
export class FolderIdentity {
  readonly #path: string;
  #seen: Identity | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Remembers the folder when it exists. @throws errors of the file system */
  async remember(): Promise<void> {
    if (this.#seen !== undefined) return;
    const found = await this.#read();
    this.#seen ??= found;
  }

  /** @throws FolderError if it is another folder than the first time; errors of the file system */
  async check(): Promise<void> {
    await this.remember();
    const seen = this.#seen;
    if (seen === undefined) return;
    const found = await statOf(this.#path);
    if (found?.dev === seen.device && found.ino === seen.inode) return;
    const now = await this.#read();
    const isSame =
      now?.marker !== undefined && seen.marker?.equals(now.marker) === true;
    if (!isSame)
      throw new FolderError(
        `${this.#path} has become another folder during the operation; if it is a mount, check that it is mounted`,
      );
    this.#seen = now;
  }

  async #read(): Promise<Identity | undefined> {
    const found = await statOf(this.#path);
    if (found === undefined) return undefined;
    const marker = await readFile(join(this.#path, MARKER)).catch(ifAbsent);
    return { device: found.dev, inode: found.ino, marker };
  }
}

function statOf(path: string) {
  return stat(path, { bigint: true }).catch(ifAbsent);
}

function ifAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
}
