/**
 * Memory of the process, as process.memoryUsage reports it.
 * @returns undefined: it cannot be read, because the process has no file
 * descriptor left for /proc/self/stat
 */
export function readMemoryUsage(
  read: () => NodeJS.MemoryUsage = process.memoryUsage,
): NodeJS.MemoryUsage | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
