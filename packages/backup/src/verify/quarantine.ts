import { isMissing, isUnreadable } from "../errors.js";
import { digestOf } from "../log/repository-log.js";
import { quarantinedFile } from "../storage/quarantined-file.js";
import type { Storage } from "../storage/storage.js";

/** What is read at once of a file that cannot be read whole: the blocks of most devices. */
const STEP = 4096;

/**
 * Moves a damaged file out of the way; it is kept for examination, and restores read from it what
 * is right. The storage moves it: what was read may be wrong because of memory of this machine, a cache or a
 * proxy, while the file is right. A pack or parity file that another server has repaired meanwhile stays: its name is its
 * digest.
 * @returns its new name; undefined: it was not moved, as it is right or does not exist
 * @throws what the storage throws, if it is full for example: then the file stays where it is
 */
export async function quarantine(
  storage: Storage,
  name: string,
): Promise<string | undefined> {
  const bytes = await readWhatIsLeft(storage, name);
  if (bytes === undefined) return undefined;
  const digest = digestOf(bytes);
  if (name.endsWith(`/${digest}`)) return undefined;
  const moved = quarantinedFile(digest, name);
  if (storage.move) await storage.move(name, moved);
  else {
    await storage.putIfAbsent(moved, [bytes]);
    await storage.remove([name]);
  }
  return moved;
}

/** The bytes of a file, with zeros where its medium has unreadable sectors. @returns undefined if it does not exist */
async function readWhatIsLeft(
  storage: Storage,
  name: string,
): Promise<Buffer | undefined> {
  try {
    return await storage.read(name);
  } catch (error) {
    if (isMissing(error)) return undefined;
    if (!isUnreadable(error)) throw error;
  }
  const size = await storage.size(name);
  if (size === undefined) return undefined;
  const bytes = Buffer.alloc(size);
  for (let offset = 0; offset < size; offset += STEP)
    try {
      const part = await storage.read(name, { offset, length: STEP });
      part.copy(bytes, offset);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
    }
  return bytes;
}
