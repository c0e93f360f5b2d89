import { readFileSync } from "node:fs";

/** File descriptors that are not used for client connections: libraries, the database, pools. */
const RESERVED = 256;

/**
 * The limit of open files of the process (`ulimit -n`, `LimitNOFILE`). Node.js
 * has raised the soft limit to the hard limit.
 * @returns undefined: unknown, or unlimited
 */
export function readMaxOpenFiles(
  path = "/proc/self/limits",
): number | undefined {
  try {
    const text = readFileSync(path, "utf8");
    const [, soft] = /^Max open files +(\d+)/m.exec(text) ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    // The file only exists on Linux.
    return undefined;
  }
}

/**
 * The number of client connections that the limit of open files allows: with
 * more, the server could not connect to pools and open its own files.
 */
export function limitConnections(
  maxConnections: number,
  maxOpenFiles: number | undefined,
): number {
  if (maxOpenFiles === undefined) return maxConnections;
  const reserved = Math.min(RESERVED, Math.ceil(maxOpenFiles / 2));
  return Math.min(maxConnections, maxOpenFiles - reserved);
}
