import { mkdir, open, readdir, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { getHeapStatistics, writeHeapSnapshot } from "node:v8";
import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { Logger } from "../log/logger.js";

interface HeapSnapshot {
  readonly file: string;
  readonly bytes: number;
  /** How long the server did not respond, in ms. */
  readonly pauseMs: number;
}

export type WriteHeap = (file: string) => void;

interface HeapSnapshotsOptions {
  readonly dataDir: string;
  readonly clock: Pick<WallClock, "now">;
  readonly logger: Pick<Logger, "warn">;
  /**
   * Maximum used heap, in bytes. Above, no snapshot is written, because the pause
   * would be too long.
   */
  readonly maxHeapBytes?: number;
  /** Writes the heap to an existing file. Default: V8, which takes seconds. */
  readonly writeHeap?: WriteHeap | undefined;
}

const MIB = 1024 * 1024;
const MAX_HEAP_BYTES = 512 * MIB;
/** Required free space on the disk, as a multiple of the used heap. */
const FREE_SPACE_FACTOR = 4;
/** Maximum number of snapshots; older files are deleted. */
const MAX_FILES = 2;
const NAME = /^heap-[\w-]+\.heapsnapshot$/;

/**
 * Writes the heap of the main thread to a file in the data folder, readable only by
 * the user of the server: it contains all secrets that are in memory, and therefore
 * never leaves the machine through the API.
 */
export class HeapSnapshots {
  readonly #options: HeapSnapshotsOptions;
  #isWriting = false;

  constructor(options: HeapSnapshotsOptions) {
    this.#options = options;
  }

  /**
   * Writes a snapshot. The server does not respond while it is written.
   * @throws XoError TOO_MANY_REQUESTS, UNSUPPORTED: the heap is too large, or the
   * disk too full
   */
  async write(): Promise<HeapSnapshot> {
    if (this.#isWriting)
      throw new XoError("TOO_MANY_REQUESTS", {
        reason: "a heap snapshot is being written",
      });
    this.#isWriting = true;
    try {
      return await this.#write();
    } finally {
      this.#isWriting = false;
    }
  }

  async #write(): Promise<HeapSnapshot> {
    const { dataDir, clock, logger } = this.#options;
    const { writeHeap = writeHeapOfV8 } = this.#options;
    const folder = join(dataDir, "diagnostics");
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await this.#checkSpace(folder);
    await deleteOld(folder, MAX_FILES - 1);
    const date = new Date(clock.now()).toISOString().replace(/[:.]/g, "-");
    const file = join(folder, `heap-${date}.heapsnapshot`);
    // The mode is set before the file has content.
    await (await open(file, "wx", 0o600)).close();
    const start = performance.now();
    writeHeap(file);
    const pauseMs = Math.round(performance.now() - start);
    const { size: bytes } = await stat(file);
    logger.warn("heap snapshot written; it contains secrets", {
      file,
      bytes,
      pauseMs,
    });
    return { file, bytes, pauseMs };
  }

  async #checkSpace(folder: string): Promise<void> {
    const { maxHeapBytes = MAX_HEAP_BYTES } = this.#options;
    const { used_heap_size: used } = getHeapStatistics();
    if (used > maxHeapBytes)
      throw new XoError("UNSUPPORTED", {
        reason: `the heap has ${toMib(used)} MiB, and the server would not respond for too long; at most ${toMib(maxHeapBytes)} MiB can be written`,
      });
    const { bavail, bsize } = await statfs(folder);
    const required = used * FREE_SPACE_FACTOR;
    if (bavail * bsize < required)
      throw new XoError("UNSUPPORTED", {
        reason: `${folder} has ${toMib(bavail * bsize)} MiB of free space, ${toMib(required)} MiB are required`,
      });
  }
}

/**
 * V8 looks up the line of each function. It counts the lines of the script from its
 * start each time unless the script has a table of line ends, which formatting a
 * stack creates: without that the bundled program (8 MB) takes minutes instead of 2
 * s.
 */
function writeHeapOfV8(file: string): void {
  void new Error().stack;
  writeHeapSnapshot(file);
}

/** Deletes all but the newest files. */
async function deleteOld(folder: string, kept: number): Promise<void> {
  const names = (await readdir(folder)).filter((name) => NAME.test(name));
  const old = names.toSorted().slice(0, Math.max(names.length - kept, 0));
  for (const name of old) await rm(join(folder, name));
}

function toMib(bytes: number): number {
  return Math.round(bytes / MIB);
}
