import { diskBlock, exportedBlocks, MiB } from "./disk-content.js";

/**
 * Maximum MiBs stored for all disks of a pool together; the oldest are
 * discarded.
 */
const MOST_BLOCKS = 256;

/** What the contents of a disk come from: blocks in base64 over those of another disk. */
export interface DiskTrace {
  /** The disk that has these contents but for the blocks. */
  readonly origin: string;
  readonly blocks: Readonly<Record<string, string>>;
}

/** Data written to disks, over their initial contents, which are a pure function of their uuids. */
export class WrittenDisks {
  readonly #blocks = new Map<string, Buffer>();
  /** Copies, by uuid, and the disks of which they have the contents. */
  readonly #origins = new Map<string, string>();

  /** A new disk has from now on the contents of another, until it is written to. */
  copy(from: string, to: string): void {
    this.adopt(to, this.trace(from, MOST_BLOCKS / 8));
  }

  trace(uuid: string, mostBlocks: number): DiskTrace {
    const mine = [...this.#blocks].filter(([key]) =>
      key.startsWith(`${uuid}/`),
    );
    const blocks = mine
      .slice(-mostBlocks)
      .map(([key, block]) => [
        key.slice(uuid.length + 1),
        block.toString("base64"),
      ]);
    const origin = this.#origins.get(uuid) ?? uuid;
    return {
      origin,
      blocks: Object.fromEntries(blocks) as DiskTrace["blocks"],
    };
  }

  adopt(uuid: string, { origin, blocks }: DiskTrace): void {
    this.#origins.set(uuid, origin);
    for (const [index, block] of Object.entries(blocks))
      this.write(uuid, Number(index) * MiB, Buffer.from(block, "base64"));
  }

  write(uuid: string, offset: number, bytes: Buffer): void {
    for (let done = 0; done < bytes.length;) {
      const index = Math.floor((offset + done) / MiB);
      const at = (offset + done) % MiB;
      done += bytes.copy(this.#toWrite(uuid, index), at, done);
    }
  }

  block(uuid: string, index: number): Buffer {
    return (
      this.#blocks.get(`${uuid}/${index}`) ??
      diskBlock(this.#origins.get(uuid) ?? uuid, index)
    );
  }

  /** Numbers of the MiBs in an export of a sparse format. */
  exported(uuid: string, size: number): readonly number[] {
    const written = Array.from({ length: Math.ceil(size / MiB) }, (_, i) => i);
    const kept = written.filter((i) => this.#blocks.has(`${uuid}/${i}`));
    const origin = this.#origins.get(uuid) ?? uuid;
    const all = new Set([...exportedBlocks(origin, size), ...kept]);
    return [...all].sort((a, b) => a - b);
  }

  #toWrite(uuid: string, index: number): Buffer {
    const key = `${uuid}/${index}`;
    const block = Buffer.from(this.block(uuid, index));
    this.#blocks.delete(key);
    this.#blocks.set(key, block);
    if (this.#blocks.size > MOST_BLOCKS)
      this.#blocks.delete(this.#blocks.keys().next().value!);
    return block;
  }
}
