import { isMissing } from "../errors.js";
import { digestOf } from "../log/repository-log.js";
import { quarantinedFile } from "../storage/quarantined-file.js";
import type { Storage } from "../storage/storage.js";

/** Moves a damaged file out of the way; it is kept for examination. @returns its new name */
export async function quarantine(
  storage: Storage,
  name: string,
): Promise<string | undefined> {
  try {
    const bytes = await storage.read(name);
    const moved = quarantinedFile(digestOf(bytes), name);
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
