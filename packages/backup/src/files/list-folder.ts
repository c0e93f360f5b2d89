import { entriesOf, isPossibleName } from "./file-path.js";
import { FileSystemError } from "./model/file-system-error.js";
import type { FileKind, FileNode, FolderEntry } from "./model/file-system.js";
import { problemOf } from "./problem-of.js";

/** Entries of a folder that are sorted at most: their names are in memory. */
const MAX_SORTED = 200_000;

interface ListedFile {
  readonly name: string;
  readonly kind: FileKind;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly modified: number;
  /** Of a symbolic link. */
  readonly target?: string;
  /** Why the entry cannot be read. */
  readonly problem?: string;
}

export interface FolderPage {
  /** In the order of their names. */
  readonly entries: readonly ListedFile[];
  /** `after` of the next page; undefined: there is none. */
  readonly next?: string;
  /** Entries of the folder. */
  readonly total: number;
  /** Entries whose names no path can have. */
  readonly skipped: number;
}

interface PageOptions {
  /** Name of the last entry of the page before. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** @throws FileSystemError */
export async function listFolder(
  folder: FileNode,
  { after, limit }: PageOptions,
): Promise<FolderPage> {
  if (folder.kind !== "folder")
    throw new FileSystemError("file-missing", "it is not a folder");
  const names = new Map<string, FolderEntry>();
  let skipped = 0;
  for await (const entry of entriesOf(folder)) {
    if (isPossibleName(entry.name) && !names.has(entry.name))
      names.set(entry.name, entry);
    else skipped++;
    if (names.size > MAX_SORTED)
      throw new FileSystemError(
        "file-limit",
        `the folder has more than ${MAX_SORTED} entries: download it as a whole`,
      );
  }
  const sorted = [...names.keys()].sort(byCode);
  const start =
    after === undefined
      ? 0
      : sorted.findIndex((name) => byCode(name, after) > 0);
  const page = start < 0 ? [] : sorted.slice(start, start + limit);
  const entries: ListedFile[] = [];
  for (const name of page) entries.push(await describe(names.get(name)!));
  const hasMore = start >= 0 && start + limit < sorted.length;
  return {
    entries,
    ...(hasMore && { next: page.at(-1)! }),
    total: sorted.length,
    skipped,
  };
}

/** Independent of languages, so that pages fit together. */
function byCode(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A damaged entry does not hide the others. */
async function describe({ name, open }: FolderEntry): Promise<ListedFile> {
  try {
    const node = await open();
    const { kind, size, modified } = node;
    const known = { name, kind, size, modified };
    return kind === "link" ? { ...known, target: await node.target() } : known;
  } catch (error) {
    const problem = problemOf(error);
    if (problem === undefined) throw error;
    return { name, kind: "other", size: 0, modified: 0, problem };
  }
}
