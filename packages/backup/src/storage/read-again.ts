import { isUnreadable } from "../errors.js";

/** Reads of the same content at most. */
const READS = 3;

/**
 * Reads content that is authenticated, again if it is missing or not what was written: one
 * answer of an object store or a file server may be wrong, and the next one right.
 * @param read gets the number of reads before; throws RepositoryError
 */
export async function readAgain<T>(
  read: (before: number) => Promise<T>,
): Promise<T> {
  for (let before = 0; ; before++)
    try {
      return await read(before);
    } catch (error) {
      if (!isUnreadable(error) || before + 1 >= READS) throw error;
    }
}
