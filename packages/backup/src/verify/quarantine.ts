import { isMissing } from "../errors.js";
import { digestOf } from "../log/repository-log.js";
import { quarantinedFile } from "../storage/quarantined-file.js";
import type { Storage } from "../storage/storage.js";

/**
 * Moves a damaged file out of the way; it is kept for examination. A pack or parity file
 * that another server has repaired meanwhile stays: its name is its digest.
 * @returns its new name
 */
export async function quarantine(
  storage: Storage,
  name: string,
): Promise<string | undefined> {
  try {
    const bytes = await storage.read(name);
    const digest = digestOf(bytes);
    if (name.endsWith(`/${digest}`)) return undefined;
    const moved = quarantinedFile(digest, name);
    await storage.putIfAbsent(moved, [bytes]);
    await storage.remove([name]);
    return moved;
  } catch (error) {
    if (!isMissing(error)) {
      // Not even readable: nothing is worth being kept.
      await storage.remove([name]);
    }
    return undefined;
  }
}
