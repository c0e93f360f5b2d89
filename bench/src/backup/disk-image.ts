import { constants } from "node:fs";
import { open, readdir, stat, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { seededRandom } from "../measure/seeded-random.js";

const MIB = 1024 * 1024;
const BLOCK = 64 * 1024;
/** Data and holes take turns in parts of this size. */
const PART = 8 * MIB;

export interface Range {
  readonly offset: number;
  readonly length: number;
}

/** A raw image in a sparse file: programs and libraries of this system, and as many holes. */
export async function createImage(path: string, used: number): Promise<void> {
  const file = await open(path, "w");
  try {
    let done = 0;
    const buffer = Buffer.alloc(MIB);
    let filled = 0;
    for await (const source of systemFiles()) {
      if (done >= used) break;
      // A file that this user may not read is left out.
      const input = await open(source, constants.O_RDONLY).catch(() => null);
      if (input === null) continue;
      try {
        while (done < used) {
          const { bytesRead } = await input.read(buffer, filled, MIB - filled);
          if (bytesRead === 0) break;
          filled += bytesRead;
          if (filled < MIB) continue;
          await file.write(buffer, 0, MIB, placeOf(done));
          done += MIB;
          filled = 0;
        }
      } finally {
        await input.close();
      }
    }
    if (done < used)
      throw new Error(`the system has only ${done} bytes of files to use`);
    await file.truncate(2 * used);
  } finally {
    await file.close();
  }
}

/** Overwrites random used blocks of 64 KiB. @returns the ranges, as changed block tracking reports them */
export async function changeImage(
  path: string,
  { used, share, seed }: { used: number; share: number; seed: number },
): Promise<Range[]> {
  const random = seededRandom(seed);
  const file = await open(path, "r+");
  try {
    const count = Math.max(1, Math.round((used / BLOCK) * share));
    const blocks = new Set<number>();
    while (blocks.size < count)
      blocks.add(Math.floor(random() * (used / BLOCK)));
    const ranges: Range[] = [];
    for (const block of blocks) {
      const offset = placeOf(block * BLOCK);
      await changeBlock(file, offset, random);
      ranges.push({ offset, length: BLOCK });
    }
    await file.sync();
    return ranges;
  } finally {
    await file.close();
  }
}

/** Every 32nd byte becomes another: it compresses less than before, but still does. */
async function changeBlock(
  file: FileHandle,
  offset: number,
  random: () => number,
): Promise<void> {
  const bytes = Buffer.alloc(BLOCK);
  await file.read(bytes, 0, BLOCK, offset);
  for (let i = 0; i < BLOCK; i += 32) bytes[i] = Math.floor(random() * 256);
  await file.write(bytes, 0, BLOCK, offset);
}

function placeOf(dataOffset: number): number {
  return dataOffset + Math.floor(dataOffset / PART) * PART;
}

async function* systemFiles(): AsyncGenerator<string> {
  for (const folder of ["/usr/bin", "/usr/lib", "/usr/share"])
    yield* filesBelow(folder);
}

async function* filesBelow(folder: string): AsyncGenerator<string> {
  // So is a folder.
  const entries = await readdir(folder, { withFileTypes: true }).catch(
    () => [],
  );
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesBelow(path);
    else if (entry.isFile() && (await stat(path)).size > 0) yield path;
  }
}
