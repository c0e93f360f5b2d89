import type { InitialContent } from "./initial-content.js";

/** Blocks of which one page of a map has the entries: 16 MiB of a disk in 1 KiB. */
export const PAGE_BLOCKS = 256;

/** The block is that of the parent. */
export const INHERITED = 0;
/** The block contains zeros. */
export const ZERO = 1;
/** Larger entries are slots of the block file, from here on. */
export const FIRST_SLOT = 2;

/**
 * One layer of a disk, as a VHD file in a chain: the blocks that were written here, over those of
 * the parent. Only the last layer of a disk is written to.
 */
export class Layer {
  parent: Layer | undefined;
  /** Below the first layer. */
  initial: InitialContent | undefined;
  readonly children = new Set<Layer>();
  readonly pages = new Map<number, Uint32Array>();

  constructor(below: Layer | InitialContent | undefined) {
    if (below instanceof Layer) {
      this.parent = below;
      below.children.add(this);
    } else this.initial = below;
  }

  entry(block: number): number {
    const page = this.pages.get(Math.floor(block / PAGE_BLOCKS));
    return page === undefined ? INHERITED : page[block % PAGE_BLOCKS]!;
  }

  setEntry(block: number, entry: number): void {
    const index = Math.floor(block / PAGE_BLOCKS);
    let page = this.pages.get(index);
    if (page === undefined) {
      if (entry === INHERITED) return;
      page = new Uint32Array(PAGE_BLOCKS);
      this.pages.set(index, page);
    }
    page[block % PAGE_BLOCKS] = entry;
  }

  /**
   * Returns the entry of a block in this layer or the nearest one below that has it; undefined:
   * the initial contents.
   */
  resolve(block: number): number | undefined {
    const entry = this.entry(block);
    return entry === INHERITED ? this.parent?.resolve(block) : entry;
  }

  get root(): Layer {
    return this.parent?.root ?? this;
  }

  /** This layer and those below, the lowest last. */
  chain(): readonly Layer[] {
    return [this, ...(this.parent?.chain() ?? [])];
  }

  *slots(): Generator<number> {
    for (const page of this.pages.values())
      for (const entry of page)
        if (entry >= FIRST_SLOT) yield entry - FIRST_SLOT;
  }

  /**
   * A layer with one child becomes part of it (coalesce).
   * @returns slots that are no longer read
   */
  mergeInto(child: Layer): readonly number[] {
    const unused: number[] = [];
    for (const [index, page] of this.pages) {
      const over = child.pages.get(index);
      if (over === undefined) {
        child.pages.set(index, page);
        continue;
      }
      for (let i = 0; i < PAGE_BLOCKS; i++)
        if (over[i] === INHERITED) over[i] = page[i]!;
        else if (page[i]! >= FIRST_SLOT) unused.push(page[i]! - FIRST_SLOT);
    }
    this.pages.clear();
    child.parent = this.parent;
    child.initial = this.initial;
    this.parent?.children.delete(this);
    this.parent?.children.add(child);
    return unused;
  }
}
