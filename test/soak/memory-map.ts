import { readFile } from "node:fs/promises";

/** Resident memory of a process by what it is used for, in bytes. */
export interface MemoryMap {
  /** Arenas of malloc: the first one (`[heap]`) and those of other threads. */
  readonly arenas: number;
  /** Parts of files: the program, libraries, the database. */
  readonly files: number;
  /** Everything else: heaps of V8, and buffers and stacks with mappings of their own. */
  readonly others: number;
}

interface Mapping {
  readonly start: number;
  readonly end: number;
  readonly isUsable: boolean;
  readonly name: string;
  readonly rss: number;
}

/** Bytes that glibc reserves for each arena but the first, at a multiple of them. */
const ARENA_BYTES = 64 * 2 ** 20;

/** Reads `/proc/PID/smaps`. */
export async function readMemoryMap(pid: number): Promise<MemoryMap> {
  return toMemoryMap(await readFile(`/proc/${pid}/smaps`, "utf8"));
}

/** @param smaps the content of `/proc/PID/smaps` */
export function toMemoryMap(smaps: string): MemoryMap {
  const mappings = parse(smaps);
  const sums = { arenas: 0, files: 0, others: 0 };
  for (const [i, mapping] of mappings.entries()) {
    const kind = mapping.name.startsWith("/")
      ? "files"
      : mapping.name === "[heap]" || isArena(mapping, mappings[i + 1])
        ? "arenas"
        : "others";
    sums[kind] += mapping.rss;
  }
  return sums;
}

/** The used part of an arena is followed by one that is reserved. */
function isArena(
  { start, end, name, isUsable }: Mapping,
  next: Mapping | undefined,
): boolean {
  if (name !== "" || !isUsable || start % ARENA_BYTES !== 0) return false;
  const reserved = start + ARENA_BYTES;
  if (end === reserved) return true;
  return (
    end < reserved &&
    next?.start === end &&
    !next.isUsable &&
    next.end >= reserved
  );
}

function parse(smaps: string): readonly Mapping[] {
  const mappings: Mapping[] = [];
  const heads =
    /^([\da-f]+)-([\da-f]+) (\S+) \S+ \S+ \d+ *(.*)\n(?:.*\n)*?Rss: +(\d+) kB/gm;
  for (const [, start, end, access, name, rss] of smaps.matchAll(heads))
    mappings.push({
      start: parseInt(start!, 16),
      end: parseInt(end!, 16),
      isUsable: access !== "---p",
      name: name!,
      rss: Number(rss) * 1024,
    });
  return mappings;
}
