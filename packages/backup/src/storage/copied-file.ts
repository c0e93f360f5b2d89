import { RepositoryError } from "../errors.js";
import type { Storage } from "./storage.js";

/** The copy of a small file: every file outside of packs/ and parity/ is stored twice. */
export function copyOf(name: string): string {
  return `copies/${name}`;
}

/** Creates a file, then its copy. @returns false if the file exists */
export async function putCopied(
  storage: Storage,
  name: string,
  bytes: Uint8Array,
): Promise<boolean> {
  if (!(await storage.putIfAbsent(name, [bytes]))) return false;
  await storage.putIfAbsent(copyOf(name), [bytes]);
  return true;
}

/**
 * What `parse` makes of a file, or of its copy if the file is missing or damaged.
 * @param parse throws RepositoryError `damaged`
 * @throws RepositoryError `missing` or `damaged`
 */
export async function readCopied<T>(
  storage: Storage,
  name: string,
  parse: (bytes: Buffer) => T,
): Promise<T> {
  try {
    return parse(await storage.read(name));
  } catch (error) {
    if (!(error instanceof RepositoryError)) throw error;
    try {
      return parse(await storage.read(copyOf(name)));
    } catch {
      throw error;
    }
  }
}

/** Deletes files together with their copies. Files that do not exist are ignored. */
export async function removeCopied(
  storage: Storage,
  names: readonly string[],
): Promise<void> {
  await storage.remove(names.flatMap((name) => [name, copyOf(name)]));
}
