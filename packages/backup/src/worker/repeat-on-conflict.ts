import { isConflict } from "../errors.js";

/** Repetitions of a backup at most, when garbage collection was faster. */
const ATTEMPTS = 3;

/** @throws what `write` throws, a conflict after the last attempt */
export async function repeatOnConflict<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++)
    try {
      return await write();
    } catch (error) {
      if (!isConflict(error) || attempt === ATTEMPTS) throw error;
    }
}
