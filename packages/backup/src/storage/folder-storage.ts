import { randomBytes } from "node:crypto";
import type { Dirent } from "node:fs";
import {
  access,
  constants,
  link,
  mkdir,
  open,
  readdir,
  rmdir,
  stat,
  statfs,
  unlink,
  type FileHandle,
} from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { RepositoryError } from "../errors.js";
import { FolderIdentity } from "./folder-identity.js";
import type { ByteRange, Storage, StoredFile } from "./storage.js";
import { writeParts } from "./write-parts.js";

/** Files are written here first; what a killed process left is removed by `removeTemporaryFiles`. */
const TEMPORARY = "tmp";
/** Other files are not ours to delete. */
const TEMPORARY_NAME = /^tmp\/[0-9a-f]{24}$/;

const PACKS = "packs/";
/**
 * Space that packs leave free for entries of the log and for parity: else no backup could be deleted
 * from a full repository.
 */
const RESERVE = 64 * 1024 * 1024;
/** On small file systems: this share of all. */
const RESERVED_SHARE = 0.01;

/** A folder: a local file system or a mount that knows hard links (NFS, SMB 2 and later). */
export class FolderStorage implements Storage {
  readonly location: string;
  readonly #identity: FolderIdentity;
  /** Folders that exist and are synced. */
  readonly #folders = new Set<string>();

  constructor(path: string) {
    this.location = resolve(path);
    this.#identity = new FolderIdentity(this.location);
  }

  async putIfAbsent(
    name: string,
    parts: readonly Uint8Array[],
  ): Promise<boolean> {
    const path = join(this.location, name);
    const temporary = join(
      this.location,
      TEMPORARY,
      randomBytes(12).toString("hex"),
    );
    try {
      await this.#identity.check();
      if (name.startsWith(PACKS)) await this.#checkReserve(parts);
      await this.#createFolder(dirname(temporary));
      await this.#createFolder(dirname(path));
      await writeSynced(temporary, parts);
      // Unlike a rename, a link never replaces a file.
      await link(temporary, path);
    } catch (error) {
      const { code, syscall } = error as NodeJS.ErrnoException;
      if (syscall === "link" && code === "EEXIST") return false;
      throw writeError(error, this.location);
    } finally {
      // What cannot be deleted either is removed by `removeTemporaryFiles`; the first error counts.
      await unlink(temporary).catch(() => undefined);
    }
    await syncFolder(dirname(path));
    await this.#identity.check();
    return true;
  }

  read(name: string, range?: ByteRange, memory?: Buffer): Promise<Buffer> {
    return this.#withFile(name, async (file) => {
      const { offset, length } = range ?? {
        offset: 0,
        length: (await file.stat()).size,
      };
      return readFully(file, { offset, length }, memory);
    });
  }

  /** Opens the file once. */
  readParts(name: string, parts: readonly ByteRange[]): Promise<Buffer[]> {
    return this.#withFile(name, async (file) => {
      const read: Buffer[] = [];
      for (const part of parts) read.push(await readFully(file, part));
      return read;
    });
  }

  async size(name: string): Promise<number | undefined> {
    await this.#identity.remember();
    try {
      return (await stat(join(this.location, name))).size;
    } catch (error) {
      if (!isAbsent(error)) throw error;
      await this.#identity.check();
      return undefined;
    }
  }

  async *list(folder: string): AsyncIterable<StoredFile> {
    let entries: Dirent[];
    await this.#identity.remember();
    try {
      entries = await readdir(join(this.location, folder), {
        withFileTypes: true,
      });
    } catch (error) {
      if (!isAbsent(error)) throw error;
      await this.#identity.check();
      return;
    }
    for (const entry of entries) {
      const name = `${folder}/${entry.name}`;
      if (entry.isDirectory()) yield* this.list(name);
      else {
        const size = await this.size(name);
        if (size !== undefined) yield { name, size };
      }
    }
  }

  async remove(names: readonly string[]): Promise<void> {
    await this.#identity.check();
    const folders = new Set<string>();
    for (const name of names) {
      const path = join(this.location, name);
      await unlink(path).catch((error: unknown) => {
        if (!isAbsent(error)) throw writeError(error, this.location);
      });
      folders.add(dirname(path));
    }
    for (const folder of folders) await syncFolder(folder).catch(ignoreMissing);
  }

  async move(from: string, to: string): Promise<void> {
    const path = join(this.location, from);
    const target = join(this.location, to);
    await this.#identity.check();
    try {
      await this.#createFolder(dirname(target));
      await link(path, target).catch((error: unknown) => {
        if (codeOf(error) !== "EEXIST") throw error;
      });
      await syncFolder(dirname(target));
      await unlink(path);
      await syncFolder(dirname(path));
    } catch (error) {
      throw writeError(error, this.location);
    }
  }

  async removeTemporaryFiles(before: number): Promise<void> {
    for await (const { name } of this.list(TEMPORARY)) {
      if (!TEMPORARY_NAME.test(name)) continue;
      const path = join(this.location, name);
      const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }));
      if (mtimeMs < before) await unlink(path).catch(ignoreMissing);
    }
  }

  async readOnlyReason(): Promise<string | undefined> {
    try {
      for (const folder of ["", TEMPORARY, "log", "packs"])
        await access(join(this.location, folder), constants.W_OK).catch(
          ignoreMissing,
        );
      return undefined;
    } catch (error) {
      const converted = writeError(error, this.location);
      if (!(converted instanceof RepositoryError)) throw error;
      return converted.message;
    }
  }

  async capacity(): Promise<{ total: number; free: number }> {
    const { blocks, bavail, bsize } = await statfs(this.location);
    return { total: blocks * bsize, free: bavail * bsize };
  }

  async #checkReserve(parts: readonly Uint8Array[]): Promise<void> {
    const { total, free } = await this.capacity();
    const size = parts.reduce((sum, part) => sum + part.byteLength, 0);
    if (free - size >= Math.min(RESERVE, total * RESERVED_SHARE)) return;
    throw Object.assign(
      new Error("the rest of its space is for the deletion of backups"),
      { code: "ENOSPC" },
    );
  }

  async #withFile<T>(
    name: string,
    use: (file: FileHandle) => Promise<T>,
  ): Promise<T> {
    await this.#identity.remember();
    const file = await open(join(this.location, name)).catch(
      async (error: unknown) => {
        if (!isAbsent(error)) throw error;
        await this.#identity.check();
        throw new RepositoryError("missing", `${name} does not exist`, {
          cause: error,
        });
      },
    );
    try {
      return await use(file);
    } catch (error) {
      // A bad sector: copies and parity help as they do for changed bytes.
      if (codeOf(error) !== "EIO") throw error;
      throw new RepositoryError("damaged", `${name} cannot be read`, {
        cause: error,
      });
    } finally {
      await file.close();
    }
  }

  async #createFolder(path: string): Promise<void> {
    if (this.#folders.has(path)) return;
    const created = await mkdir(path, { recursive: true });
    if (created !== undefined) await this.#checkCreated(created, path);
    // A new name is safe once the folder that holds it is synced; another process may have created it.
    for (let at = path; at !== this.location && at !== dirname(at);) {
      at = dirname(at);
      await syncFolder(at);
    }
    this.#folders.add(path);
  }

  /** Deletes folders again that were created in another folder: this one was unmounted since the last check. */
  async #checkCreated(first: string, last: string): Promise<void> {
    try {
      await this.#identity.check();
    } catch (error) {
      for (let at = last; at.length >= first.length; at = dirname(at))
        // Something else may be in it: the first error counts.
        await rmdir(at).catch(() => undefined);
      throw error;
    }
  }
}

async function writeSynced(
  path: string,
  parts: readonly Uint8Array[],
): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await writeParts(file, path, parts);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function readFully(
  file: FileHandle,
  { offset, length }: ByteRange,
  memory?: Buffer,
): Promise<Buffer> {
  const bytes =
    memory !== undefined && memory.length >= length
      ? memory.subarray(0, length)
      : Buffer.allocUnsafeSlow(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await file.read(
      bytes,
      done,
      length - done,
      offset + done,
    );
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes.subarray(0, done);
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

const READ_ONLY: Readonly<Record<string, string>> = {
  EROFS: "the file system is read-only",
  EACCES: "the user of the server may not write",
  EPERM: "the creation and deletion of files is not permitted",
};
const NO_LINKS = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"];

/** Errors of writing that users can act on. @returns others as they are */
function writeError(error: unknown, location: string): unknown {
  const { syscall } = error as NodeJS.ErrnoException;
  const code = codeOf(error);
  if (syscall === "link" && NO_LINKS.includes(code))
    return new RepositoryError(
      "unsupported",
      `${location}: the file system does not allow the creation of hard links`,
      { cause: error },
    );
  const reason = READ_ONLY[code];
  return reason === undefined
    ? error
    : new RepositoryError("read-only", `${location}: ${reason}`, {
        cause: error,
      });
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}

function isAbsent(error: unknown): boolean {
  return codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR";
}

function ignoreMissing(error: unknown): void {
  if (!isAbsent(error)) throw error;
}
