import { closest } from "fastest-levenshtein";
import type { Queries } from "@xo-server/inventory";
import { isObject } from "@xo-server/kit";
import { isTypingError } from "../validation/schema-problem.js";
import { invalidFolder } from "./folder-path.js";
import type { Readable } from "./readable.js";

/** Key of the other_config of objects: the path of their folder. */
export const FOLDER_KEY = "folder";
/** Key of the other_config of pools: paths of folders that need no content, separated by `;`. */
export const EMPTY_FOLDERS_KEY = "EMPTY_FOLDERS";
const SEPARATOR = ";";

/** Maximum number of folders listed in an error. */
const MAX_NAMED = 20;

/**
 * Maximum number of folders that a wrong path is compared with. With 1,024
 * characters each, that takes about 30 ms.
 */
const MAX_COMPARED = 1_000;

interface Folder {
  readonly folder: string;
  /** Number of VMs in the folder, without those in subfolders. */
  readonly vms: number;
}

/** @param text the value of EMPTY_FOLDERS */
export function readEmptyFolders(text: unknown): readonly string[] {
  if (typeof text !== "string") return [];
  return text.split(SEPARATOR).filter((path) => path.startsWith("/"));
}

/** XenCenter's format of the key `EMPTY_FOLDERS`: sorted paths. */
export function writeEmptyFolders(paths: readonly string[]): string {
  return [...new Set(paths)].sort().join(SEPARATOR);
}

/**
 * The folders of the objects that a caller may read, by path, including folders
 * that only contain folders.
 */
export async function listFolders(
  queries: Pick<Queries, "group" | "page">,
  readable: Readable,
): Promise<readonly Folder[]> {
  const counts = new Map<string, number>();
  const add = (path: string, count: number) => {
    counts.set(path, (counts.get(path) ?? 0) + count);
    const parent = path.slice(0, path.lastIndexOf("/"));
    if (parent !== "") add(parent, 0);
  };
  const vms = { type: "VM", ...conditionOf(readable, "VM") };
  for (const { key, count } of await queries.group(vms, "folder"))
    if (typeof key === "string" && key.startsWith("/")) add(key, count);
  const pools = await queries.page({
    type: "pool",
    ...conditionOf(readable, "pool"),
    sort: [],
    limit: 10_000,
    fields: ["otherConfig"],
  });
  for (const row of pools.rows) {
    const { otherConfig } = JSON.parse(row.toString()) as {
      readonly otherConfig?: unknown;
    };
    const entry = isObject(otherConfig)
      ? otherConfig[EMPTY_FOLDERS_KEY]
      : undefined;
    for (const path of readEmptyFolders(entry)) add(path, 0);
  }
  return [...counts]
    .map(([folder, vms]) => ({ folder, vms }))
    .sort((a, b) => (a.folder < b.folder ? -1 : 1));
}

/** @throws XoError INVALID_PARAMETERS with the nearest known folder, unless it is known */
export function checkKnownFolder(
  path: string,
  known: readonly string[],
  hint: string,
): void {
  if (known.includes(path)) return;
  throw invalidFolder(
    `"${path}" does not exist; ${nearestTo(path, known)}${hint}`,
  );
}

function nearestTo(path: string, known: readonly string[]): string {
  if (known.length === 0) return "there are no folders";
  const nearest = closest(path, known.slice(0, MAX_COMPARED));
  if (isTypingError(path, nearest)) return `did you mean "${nearest}"?`;
  const named = known.slice(0, MAX_NAMED).join(", ");
  const more = known.length > MAX_NAMED ? ", ..." : "";
  return `the nearest known folder is "${nearest}" (known folders: ${named}${more})`;
}

function conditionOf(readable: Readable, type: string) {
  const where = readable(type);
  return where === undefined ? {} : { where };
}
