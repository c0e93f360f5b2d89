import { BlockFile, BLOCK_SIZE } from "./block-file.js";
import { ChangeLogs } from "./changed-blocks.js";
import {
  allExtents,
  differences,
  type DiskRange,
  type Extent,
} from "./extents.js";
import { InitialContent, type InitialDisk } from "./initial-content.js";
import { FIRST_SLOT, INHERITED, Layer, ZERO } from "./layer.js";

/** A disk of the pool that nothing was written to yet. */
export interface KnownDisk extends InitialDisk {
  /** CBT is enabled: changes are recorded from the first write on. */
  readonly tracked: boolean;
}

interface DiskContentsOptions {
  /** @throws Error for what is not a disk of the pool */
  readonly known: (uuid: string) => KnownDisk;
  /** Folder of temporary files; default: the system's. */
  readonly folder?: string | undefined;
}

interface Disk {
  leaf: Layer;
  /** Bytes. */
  size: number;
  /** Bytes newly allocated, less those freed, since `takeGrowth`. */
  growth: number;
}

const zeros = Buffer.alloc(BLOCK_SIZE);
/** What is copied at once. */
const PIECE = 2 ** 20;

/**
 * The contents of a pool's disks, by uuid: trees of layers with the blocks that were written, over
 * initial contents that cost nothing. Snapshots, clones and copies share layers. Blocks are in a
 * temporary file; in memory are 4 bytes for each 64 KiB near one that was written.
 *
 * All methods throw for disks that are unknown. Offsets and lengths are in bytes; what is behind
 * the end of a disk is not written and reads as zeros.
 */
export class DiskContents {
  readonly #disks = new Map<string, Disk>();
  readonly #logs = new ChangeLogs();
  readonly #known: (uuid: string) => KnownDisk;
  readonly #file: BlockFile;

  constructor({ known, folder }: DiskContentsOptions) {
    this.#known = known;
    this.#file = new BlockFile(folder);
  }

  /** Bytes in the temporary file. */
  get storedBytes(): number {
    return this.#file.count * BLOCK_SIZE;
  }

  /** A new disk: of zeros, or with the initial contents of another. */
  create(uuid: string, size: number, initial?: InitialDisk): void {
    this.remove(uuid);
    const content = initial && new InitialContent(initial);
    this.#disks.set(uuid, { leaf: new Layer(content), size, growth: 0 });
  }

  /** Makes the contents independent of the record of the disk. */
  open(uuid: string): void {
    this.#open(uuid);
  }

  remove(uuid: string): void {
    this.#drop(uuid);
    this.#logs.remove(uuid);
  }

  /** Removes the contents; what CBT has recorded stays. */
  removeData(uuid: string): void {
    const { size } = this.#open(uuid);
    this.#drop(uuid);
    this.#disks.set(uuid, { leaf: new Layer(undefined), size, growth: 0 });
  }

  size(uuid: string): number {
    return this.#open(uuid).size;
  }

  resize(uuid: string, size: number): void {
    this.#open(uuid).size = size;
    this.#logs.resize(uuid, size);
  }

  /** A new disk with the contents of another, and what CBT has recorded until now. */
  snapshot(from: string, to: string): void {
    this.clone(from, to);
    this.#logs.snapshot(from, to);
  }

  /** A new disk with the contents of another. */
  clone(from: string, to: string): void {
    const disk = this.#open(from);
    this.remove(to);
    const below = this.#freeze(disk);
    this.#disks.set(to, { leaf: new Layer(below), size: disk.size, growth: 0 });
  }

  /** A disk gets the contents of another, and keeps its size; CBT records what differs. */
  replace(from: string, into: string): void {
    if (from === into) return;
    const source = this.#open(from);
    const disk = this.#open(into);
    const range = { offset: 0, length: disk.size };
    for (const { offset, length } of differences(disk.leaf, source.leaf, range))
      this.#logs.mark(into, offset, length);
    const leaf = new Layer(this.#freeze(source));
    this.#discard(disk.leaf);
    disk.leaf = leaf;
  }

  /** Writes to a disk what differs between two others. */
  patch(uuid: string, from: string, into: string): void {
    for (const { offset, length } of this.extents(uuid, { from }))
      for (let done = 0; done < length; done += PIECE) {
        const bytes = Buffer.allocUnsafe(Math.min(PIECE, length - done));
        this.read(uuid, offset + done, bytes);
        this.write(into, offset + done, bytes);
      }
  }

  read(uuid: string, offset: number, into: Buffer): void {
    const { leaf, size } = this.#open(uuid);
    const readable = Math.max(0, Math.min(into.length, size - offset));
    into.fill(0, readable);
    for (let done = 0; done < readable;) {
      const run = this.#runAt(leaf, offset + done, readable - done);
      const part = into.subarray(done, done + run.length);
      const { slot, initial, at } = run;
      if (slot !== undefined) this.#file.read(slot, at, part);
      else if (initial !== undefined) initial.read(offset + done, part);
      else part.fill(0);
      done += run.length;
    }
  }

  write(uuid: string, offset: number, bytes: Buffer): void {
    const disk = this.#open(uuid);
    const length = Math.max(0, Math.min(bytes.length, disk.size - offset));
    for (let done = 0; done < length;) {
      const at = (offset + done) % BLOCK_SIZE;
      const block = Math.floor((offset + done) / BLOCK_SIZE);
      const count = Math.min(length - done, BLOCK_SIZE - at);
      const part = bytes.subarray(done, done + count);
      this.#writeBlock(disk, block, { at, part });
      done += count;
    }
    this.#logs.mark(uuid, offset, length);
  }

  /**
   * The range (default: the whole disk) as extents of data and of zeros, without gaps. With `from`
   * only what differs from that disk: blocks that were written in one of them since the contents
   * were the same.
   */
  extents(
    uuid: string,
    { from, ...range }: Partial<DiskRange> & { readonly from?: string } = {},
  ): readonly Extent[] {
    const { leaf } = this.#open(uuid);
    const clamped = this.#range(uuid, range);
    return from === undefined
      ? allExtents(leaf, clamped)
      : differences(this.#open(from).leaf, leaf, clamped);
  }

  /** Returns the initial contents and the extents that differ from them. */
  history(uuid: string): {
    readonly size: number;
    readonly initial: InitialDisk | undefined;
    readonly written: readonly Extent[];
  } {
    const { leaf, size } = this.#open(uuid);
    const { initial } = leaf.root;
    return {
      size,
      initial: initial && { seed: initial.seed, size: initial.size },
      written: differences(undefined, leaf, { offset: 0, length: size }),
    };
  }

  /** Whether anything was written since the contents were last shared with another disk. */
  isWritten(uuid: string): boolean {
    return this.#open(uuid).leaf.pages.size > 0;
  }

  /** Layers of the disk's chain. */
  chainLength(uuid: string): number {
    return this.#open(uuid).leaf.chain().length;
  }

  /** Bytes by which the disk has grown on its storage since the previous call; negative if it shrank. */
  takeGrowth(uuid: string): number {
    const disk = this.#open(uuid);
    const { growth } = disk;
    disk.growth = 0;
    return growth;
  }

  /** CBT records what is written from now on. */
  enableTracking(uuid: string): void {
    this.#logs.start(uuid, this.#open(uuid).size);
  }

  disableTracking(uuid: string): void {
    this.#open(uuid);
    this.#logs.stop(uuid);
  }

  /**
   * The bitmap of CBT: a bit for each 64 KiB of `to` that was written since `from` was taken, the
   * most significant bit of a byte first.
   * @throws UnrelatedDisks unless CBT has recorded everything from the one to the other
   */
  changedBlocks(from: string, to: string): Buffer {
    this.#open(from);
    this.#open(to);
    return this.#logs.changed(from, to);
  }

  /** Deletes the temporary file. */
  stop(): void {
    this.#disks.clear();
    this.#file.stop();
  }

  #open(uuid: string): Disk {
    const found = this.#disks.get(uuid);
    if (found !== undefined) return found;
    const known = this.#known(uuid);
    const leaf = new Layer(new InitialContent(known));
    const disk = { leaf, size: known.size, growth: 0 };
    this.#disks.set(uuid, disk);
    if (known.tracked) this.#logs.start(uuid, disk.size);
    return disk;
  }

  #range(uuid: string, { offset = 0, length }: Partial<DiskRange>): DiskRange {
    const left = Math.max(0, this.#open(uuid).size - offset);
    return { offset, length: Math.min(length ?? left, left) };
  }

  /** The present contents of a disk, as a layer that is not written to. */
  #freeze(disk: Disk): Layer {
    const { leaf } = disk;
    const isEmpty = leaf.pages.size === 0 && leaf.parent !== undefined;
    if (isEmpty) return leaf.parent!;
    disk.leaf = new Layer(leaf);
    return leaf;
  }

  #drop(uuid: string): void {
    const disk = this.#disks.get(uuid);
    if (disk === undefined) return;
    this.#disks.delete(uuid);
    this.#discard(disk.leaf);
  }

  /** A layer without readers is removed; the one below it too, or it is merged into the layer above. */
  #discard(leaf: Layer): void {
    for (const slot of leaf.slots()) this.#file.release(slot);
    leaf.pages.clear();
    const { parent } = leaf;
    if (parent === undefined) return;
    parent.children.delete(leaf);
    const [child, ...others] = parent.children;
    if (child === undefined) this.#discard(parent);
    else if (others.length === 0)
      for (const slot of parent.mergeInto(child)) this.#file.release(slot);
  }

  #writeBlock(
    disk: Disk,
    block: number,
    { at, part }: { readonly at: number; readonly part: Buffer },
  ): void {
    const { leaf } = disk;
    const entry = leaf.entry(block);
    const isWhole = part.length === BLOCK_SIZE;
    if (entry >= FIRST_SLOT && !isWhole) {
      this.#file.write(entry - FIRST_SLOT, at, part);
      return;
    }
    const bytes = isWhole ? part : this.#changed(leaf, block, { at, part });
    if (bytes.equals(zeros)) this.#clear(disk, block);
    else if (entry >= FIRST_SLOT)
      this.#file.write(entry - FIRST_SLOT, 0, bytes);
    else {
      const slot = this.#file.allocate();
      this.#file.write(slot, 0, bytes);
      leaf.setEntry(block, slot + FIRST_SLOT);
      disk.growth += BLOCK_SIZE;
    }
  }

  #clear(disk: Disk, block: number): void {
    const { leaf } = disk;
    const entry = leaf.entry(block);
    leaf.setEntry(block, INHERITED);
    const below = leaf.resolve(block);
    const isZero =
      below === undefined
        ? leaf.root.initial?.hasData(block * BLOCK_SIZE) !== true
        : below === ZERO;
    if (!isZero) leaf.setEntry(block, ZERO);
    if (entry < FIRST_SLOT) return;
    this.#file.release(entry - FIRST_SLOT);
    disk.growth -= BLOCK_SIZE;
  }

  /** The whole block after a write of a part of it. */
  #changed(
    leaf: Layer,
    block: number,
    { at, part }: { readonly at: number; readonly part: Buffer },
  ): Buffer {
    const bytes = Buffer.alloc(BLOCK_SIZE);
    const { slot, initial } = this.#runAt(leaf, block * BLOCK_SIZE, BLOCK_SIZE);
    if (slot !== undefined) this.#file.read(slot, 0, bytes);
    else initial?.read(block * BLOCK_SIZE, bytes);
    part.copy(bytes, at);
    return bytes;
  }

  /** Bytes that are read at once: in successive slots, zeros, or initial contents. */
  #runAt(
    leaf: Layer,
    offset: number,
    most: number,
  ): {
    readonly length: number;
    readonly at: number;
    readonly slot?: number;
    readonly initial?: InitialContent | undefined;
  } {
    const first = Math.floor(offset / BLOCK_SIZE);
    const at = offset % BLOCK_SIZE;
    const entry = leaf.resolve(first);
    const hasSlot = entry !== undefined && entry !== ZERO;
    let count = 1;
    while (count * BLOCK_SIZE - at < most) {
      const next = leaf.resolve(first + count);
      if (next !== (hasSlot ? entry + count : entry)) break;
      count++;
    }
    const length = Math.min(most, count * BLOCK_SIZE - at);
    if (hasSlot) return { length, at, slot: entry - FIRST_SLOT };
    return entry === ZERO
      ? { length, at }
      : { length, at, initial: leaf.root.initial };
  }
}
