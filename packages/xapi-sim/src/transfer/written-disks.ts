import type { Database } from "../database.js";
import { diskBlock, exportedBlocks, MiB } from "./disk-content.js";

/** MiBs that are kept, of all disks of a pool together; the oldest go first. */
const MOST_BLOCKS = 256;

/** What was written to disks: they begin as pure functions of their uuids, and what is kept here lies over that. */
class WrittenDisks {
  readonly #blocks = new Map<string, Buffer>();

  write(uuid: string, offset: number, bytes: Buffer): void {
    for (let done = 0; done < bytes.length;) {
      const index = Math.floor((offset + done) / MiB);
      const at = (offset + done) % MiB;
      done += bytes.copy(this.#toWrite(uuid, index), at, done);
    }
  }

  block(uuid: string, index: number): Buffer {
    return this.#blocks.get(`${uuid}/${index}`) ?? diskBlock(uuid, index);
  }

  /** Numbers of the MiBs that an export of a sparse format holds. */
  exported(uuid: string, size: number): readonly number[] {
    const written = Array.from({ length: Math.ceil(size / MiB) }, (_, i) => i);
    const kept = written.filter((i) => this.#blocks.has(`${uuid}/${i}`));
    const all = new Set([...exportedBlocks(uuid, size), ...kept]);
    return [...all].sort((a, b) => a - b);
  }

  #toWrite(uuid: string, index: number): Buffer {
    const key = `${uuid}/${index}`;
    const block = this.#blocks.get(key) ?? Buffer.from(diskBlock(uuid, index));
    this.#blocks.delete(key);
    this.#blocks.set(key, block);
    if (this.#blocks.size > MOST_BLOCKS)
      this.#blocks.delete(this.#blocks.keys().next().value!);
    return block;
  }
}

const byPool = new WeakMap<Database, WrittenDisks>();

/** Those of a pool. */
export function writtenDisks(db: Database): WrittenDisks {
  const disks = byPool.get(db) ?? new WrittenDisks();
  byPool.set(db, disks);
  return disks;
}
