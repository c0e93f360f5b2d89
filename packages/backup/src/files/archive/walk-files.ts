import { entriesOf, findNames, isPossibleName, namesOf } from "../file-path.js";
import { damaged, FileSystemError } from "../model/file-system-error.js";
import type {
  FileNode,
  FileSystem,
  FolderEntry,
} from "../model/file-system.js";
import { begun } from "../model/begun-content.js";
import { problemOf } from "../problem-of.js";

const MAX_DEPTH = 256;
/** Entries of one archive at most: a ZIP has a list of all of them. */
const MAX_ENTRIES = 500_000;

/** What an archive has under a path. */
export type ArchiveItem =
  | {
      readonly path: string;
      readonly node: FileNode;
      /** The content of a file, whose first part was read. */
      readonly content?: AsyncIterable<Buffer>;
      /** Of a link. */
      readonly target?: string;
    }
  /** What could not be read. */
  | { readonly path: string; readonly problem: string };

/**
 * All files of some paths, named from the folder that all of them are in. Links are not followed;
 * devices and sockets are left out.
 * @throws FileSystemError `file-missing`, `file-limit`; other errors of a file only after its first bytes
 */
export async function* walkFiles(
  fileSystem: FileSystem,
  paths: readonly string[],
): AsyncGenerator<ArchiveItem, void> {
  const walk = new Walk();
  for (const { from, name } of rootsOf(paths)) {
    const node = await findNames(fileSystem, from);
    if (name === "") yield* walk.folder(node, "", 0);
    else yield* walk.item(name, { name, open: async () => node }, 0);
  }
}

class Walk {
  /** Ids of folders: a folder that is in two places, or in itself, is an error of the disk. */
  readonly #seen = new Set<string>();
  #count = 0;

  async *item(
    path: string,
    entry: FolderEntry,
    depth: number,
  ): AsyncGenerator<ArchiveItem, void> {
    if (++this.#count > MAX_ENTRIES)
      throw new FileSystemError(
        "file-limit",
        `more than ${MAX_ENTRIES} files: download fewer folders at once`,
      );
    const item = await attempt(path, () => itemOf(path, entry));
    if (item === undefined) return;
    yield item;
    if ("node" in item && item.node.kind === "folder")
      yield* this.folder(item.node, `${path}/`, depth + 1);
  }

  /** @param prefix before the names of its entries */
  async *folder(
    node: FileNode,
    prefix: string,
    depth: number,
  ): AsyncGenerator<ArchiveItem, void> {
    const entries = await attempt(prefix, async () =>
      this.#entries(node, depth),
    );
    if (entries === undefined) return;
    if ("problem" in entries) {
      yield entries;
      return;
    }
    const iterator = entries[Symbol.asyncIterator]();
    for (;;) {
      const next = await attempt(prefix, () => iterator.next());
      if (next !== undefined && "problem" in next) {
        yield next;
        return;
      }
      if (next === undefined || next.done === true) return;
      const { name } = next.value;
      if (isPossibleName(name))
        yield* this.item(prefix + name, next.value, depth);
      else
        yield {
          path: prefix,
          problem: "a name in this folder is not possible",
        };
    }
  }

  #entries(node: FileNode, depth: number): AsyncIterable<FolderEntry> {
    if (depth > MAX_DEPTH) throw damaged("folders are nested too deeply");
    if (this.#seen.has(node.id)) throw damaged("a folder is in two places");
    this.#seen.add(node.id);
    return entriesOf(node);
  }
}

/** @returns undefined for devices and sockets */
async function itemOf(
  path: string,
  { open }: FolderEntry,
): Promise<ArchiveItem | undefined> {
  const node = await open();
  if (node.kind === "other") return undefined;
  if (node.kind === "folder") return { path, node };
  if (node.kind === "link") return { path, node, target: await node.target() };
  return { path, node, content: await begun(node.content()) };
}

/** @returns the problem if the disk is the reason of a failure */
async function attempt<T>(
  path: string,
  read: () => Promise<T>,
): Promise<T | { readonly path: string; readonly problem: string }> {
  try {
    return await read();
  } catch (error) {
    const problem = problemOf(error);
    const isLimit =
      error instanceof FileSystemError && error.code === "file-limit";
    if (problem === undefined || isLimit) throw error;
    return { path, problem };
  }
}

interface Root {
  /** Names from the root of the file system. */
  readonly from: readonly string[];
  /** Its path in the archive. */
  readonly name: string;
}

/** Paths without those in others, and what they have in common. */
function rootsOf(paths: readonly string[]): Root[] {
  const all = paths.map(namesOf);
  const isBelow = (path: readonly string[], other: readonly string[]) =>
    other.length < path.length && other.every((name, i) => name === path[i]);
  const roots = new Map<string, readonly string[]>();
  for (const path of all)
    if (!all.some((other) => isBelow(path, other)))
      roots.set(path.join("/"), path);
  const [first = []] = roots.values();
  let common = Math.max(0, first.length - 1);
  for (const path of roots.values())
    while (
      common > 0 &&
      !first.slice(0, common).every((name, i) => name === path[i])
    )
      common--;
  return [...roots.values()].map((from) => ({
    from,
    name: from.slice(common).join("/"),
  }));
}
