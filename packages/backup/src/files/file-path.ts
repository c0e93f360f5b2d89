import { FileSystemError } from "./model/file-system-error.js";
import type { FileNode, FileSystem, FolderEntry } from "./model/file-system.js";

const MAX_DEPTH = 256;
/** Entries of one folder that are read at most. */
const MAX_ENTRIES = 1_000_000;

/** Whether a name can be part of a path: those of a hostile disk may not be. */
export function isPossibleName(name: string): boolean {
  return (
    name !== "" &&
    name !== "." &&
    name !== ".." &&
    !name.includes("/") &&
    !name.includes("\0")
  );
}

/** The entries of a folder, also those with names that are not possible. @throws FileSystemError `file-limit` */
export async function* entriesOf(
  folder: FileNode,
): AsyncGenerator<FolderEntry, void> {
  let count = 0;
  for await (const entry of folder.entries()) {
    if (++count > MAX_ENTRIES)
      throw new FileSystemError(
        "file-limit",
        `the folder has more than ${MAX_ENTRIES} entries`,
      );
    yield entry;
  }
}

/** The names of a path. @throws FileSystemError `file-missing` if it has names that are not possible */
export function namesOf(path: string): string[] {
  const names = path.split("/").filter((name) => name !== "");
  if (names.length > MAX_DEPTH || !names.every(isPossibleName))
    throw missing(path);
  return names;
}

/**
 * What a path names. Symbolic links are not followed.
 * @param path with `/` between names
 * @throws FileSystemError `file-missing`
 */
export async function findFile(
  fileSystem: FileSystem,
  path: string,
): Promise<FileNode> {
  return findNames(fileSystem, namesOf(path));
}

/** The same by the names of a path. */
export async function findNames(
  fileSystem: FileSystem,
  names: readonly string[],
): Promise<FileNode> {
  const path = `/${names.join("/")}`;
  let node = await fileSystem.root();
  for (const name of names) {
    if (node.kind !== "folder") throw missing(path);
    const entry = await findEntry(node, name);
    if (entry === undefined) throw missing(path);
    node = await entry.open();
  }
  return node;
}

async function findEntry(
  folder: FileNode,
  name: string,
): Promise<FolderEntry | undefined> {
  for await (const entry of entriesOf(folder))
    if (entry.name === name) return entry;
  return undefined;
}

function missing(path: string): FileSystemError {
  return new FileSystemError("file-missing", `there is no file ${path}`);
}
