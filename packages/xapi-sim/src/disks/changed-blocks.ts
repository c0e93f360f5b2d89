import { BLOCK_SIZE } from "./block-file.js";

/** Bytes of bits in a page: 4 GiB of a disk. */
const PAGE_BYTES = 8192;
const PAGE_BITS = PAGE_BYTES * 8;

/** A bit for each block, the most significant of a byte first. */
class BlockBits {
  readonly #pages = new Map<number, Uint8Array>();

  mark(first: number, last: number): void {
    for (let block = first; block <= last; block++) {
      const page = this.#page(Math.floor(block / PAGE_BITS));
      page[(block % PAGE_BITS) >> 3]! |= 0x80 >> (block & 7);
    }
  }

  add(other: BlockBits): void {
    for (const [index, page] of other.#pages) {
      const mine = this.#page(index);
      for (let i = 0; i < PAGE_BYTES; i++) mine[i]! |= page[i]!;
    }
  }

  /** @param size of the disk, bytes */
  bitmap(size: number): Buffer {
    const bitmap = Buffer.alloc(Math.ceil(Math.ceil(size / BLOCK_SIZE) / 8));
    for (const [index, page] of this.#pages)
      bitmap.set(
        page.subarray(0, Math.max(0, bitmap.length - index * PAGE_BYTES)),
        Math.min(bitmap.length, index * PAGE_BYTES),
      );
    return bitmap;
  }

  #page(index: number): Uint8Array {
    let page = this.#pages.get(index);
    if (page === undefined) {
      page = new Uint8Array(PAGE_BYTES);
      this.#pages.set(index, page);
    }
    return page;
  }
}

/** What was written to a disk since the snapshot before; of a snapshot: until it was taken. */
interface ChangeLog {
  size: number;
  bits: BlockBits;
  parent: string | undefined;
  child: string | undefined;
}

/** Thrown where no chain of logs leads from one disk to the other. */
export class UnrelatedDisks extends Error {}

/** The logs of CBT (changed block tracking): chains from snapshot to snapshot to the disk, as SM keeps them. */
export class ChangeLogs {
  readonly #logs = new Map<string, ChangeLog>();

  has(uuid: string): boolean {
    return this.#logs.has(uuid);
  }

  start(uuid: string, size: number): void {
    if (!this.has(uuid))
      this.#logs.set(uuid, {
        size,
        bits: new BlockBits(),
        parent: undefined,
        child: undefined,
      });
  }

  /** Later snapshots are not related to earlier ones. */
  stop(uuid: string): void {
    const parent = this.#logs.get(this.#logs.get(uuid)?.parent ?? "");
    if (parent !== undefined) parent.child = undefined;
    this.#logs.delete(uuid);
  }

  mark(uuid: string, offset: number, length: number): void {
    if (length === 0) return;
    this.#logs
      .get(uuid)
      ?.bits.mark(
        Math.floor(offset / BLOCK_SIZE),
        Math.floor((offset + length - 1) / BLOCK_SIZE),
      );
  }

  resize(uuid: string, size: number): void {
    const log = this.#logs.get(uuid);
    if (log !== undefined) log.size = size;
  }

  /** The snapshot takes the log; the disk starts a new one behind it. */
  snapshot(from: string, to: string): void {
    const log = this.#logs.get(from);
    if (log === undefined) return;
    this.#logs.set(to, { ...log, child: from });
    const parent = this.#logs.get(log.parent ?? "");
    if (parent !== undefined) parent.child = to;
    this.#logs.set(from, {
      size: log.size,
      bits: new BlockBits(),
      parent: to,
      child: log.child,
    });
  }

  /** The log of a removed disk becomes part of the next one. */
  remove(uuid: string): void {
    const log = this.#logs.get(uuid);
    if (log === undefined) return;
    const parent = this.#logs.get(log.parent ?? "");
    const child = this.#logs.get(log.child ?? "");
    if (parent !== undefined) parent.child = log.child;
    if (child !== undefined) {
      child.parent = log.parent;
      child.bits.add(log.bits);
    }
    this.#logs.delete(uuid);
  }

  /** Blocks written after `from` was taken, up to `to`. @throws UnrelatedDisks */
  changed(from: string, to: string): Buffer {
    const all = new BlockBits();
    for (let at = this.#logs.get(from)?.child; ;) {
      const log = at === undefined ? undefined : this.#logs.get(at);
      if (at === undefined || log === undefined)
        throw new UnrelatedDisks("no chain of CBT logs leads there");
      all.add(log.bits);
      if (at === to) return all.bitmap(log.size);
      at = log.child;
    }
  }
}
