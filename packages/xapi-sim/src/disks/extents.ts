import { BLOCK_SIZE } from "./block-file.js";
import type { InitialContent } from "./initial-content.js";
import { INHERITED, PAGE_BLOCKS, ZERO, type Layer } from "./layer.js";

/** Successive bytes of a disk. */
export interface Extent {
  /** Bytes. */
  readonly offset: number;
  readonly length: number;
  readonly kind: "data" | "zero";
}

/** Bytes of a disk from an offset on. */
export interface DiskRange {
  readonly offset: number;
  readonly length: number;
}

type Kind = Extent["kind"] | undefined;

const PAGE_SIZE = PAGE_BLOCKS * BLOCK_SIZE;

/** The whole range as extents of data and of zeros, at the grain of blocks. */
export function allExtents(leaf: Layer, range: DiskRange): readonly Extent[] {
  const chain = leaf.chain();
  const { initial } = leaf.root;
  const list = new ExtentList(range);
  for (const block of blocksOf([chain], [initial], range))
    list.add(block, kindOf(leaf, initial, block));
  return list.finish("zero");
}

/**
 * What differs between two disks: blocks written since their common layer, in one or the other.
 * The kind is what the block is in `leaf`.
 */
export function differences(
  from: Layer | undefined,
  leaf: Layer,
  range: DiskRange,
): readonly Extent[] {
  const [mine, theirs] = apart(leaf, from);
  const { initial } = leaf.root;
  const base = from === undefined ? initial : from.root.initial;
  const isForeign = !isCommon(leaf, from) && !isSame(initial, base);
  const list = new ExtentList(range);
  const initials = isForeign ? [initial, base] : [];
  for (const block of blocksOf([mine, theirs], initials, range)) {
    const isWritten =
      mine.some((layer) => layer.entry(block) !== INHERITED) ||
      theirs.some((layer) => layer.entry(block) !== INHERITED);
    const offset = block * BLOCK_SIZE;
    const differs =
      isWritten ||
      initials.some((content) => content?.hasData(offset) === true);
    list.add(block, differs ? kindOf(leaf, initial, block) : undefined);
  }
  return list.finish(undefined);
}

function isSame(
  one: InitialContent | undefined,
  other: InitialContent | undefined,
): boolean {
  return one?.seed === other?.seed && one?.size === other?.size;
}

function isCommon(leaf: Layer, from: Layer | undefined): boolean {
  return from !== undefined && leaf.root === from.root;
}

/** The layers of each disk that are not of the other. */
function apart(
  leaf: Layer,
  from: Layer | undefined,
): readonly [readonly Layer[], readonly Layer[]] {
  const mine = leaf.chain();
  const theirs = from?.chain() ?? [];
  return [
    mine.filter((layer) => !theirs.includes(layer)),
    theirs.filter((layer) => !mine.includes(layer)),
  ];
}

function kindOf(
  leaf: Layer,
  initial: InitialContent | undefined,
  block: number,
): "data" | "zero" {
  const entry = leaf.resolve(block);
  if (entry !== undefined) return entry === ZERO ? "zero" : "data";
  return initial?.hasData(block * BLOCK_SIZE) === true ? "data" : "zero";
}

/** Blocks of the range about which any of the layers or initial contents may say something. */
function* blocksOf(
  chains: readonly (readonly Layer[])[],
  initials: readonly (InitialContent | undefined)[],
  { offset, length }: DiskRange,
): Generator<number> {
  const first = Math.floor(offset / BLOCK_SIZE);
  const end = Math.ceil((offset + length) / BLOCK_SIZE);
  const firstPage = Math.floor(first / PAGE_BLOCKS);
  const layers = chains.flat();
  const last = Math.max(0, ...initials.map((initial) => initial?.end ?? 0));
  for (let page = firstPage; page * PAGE_BLOCKS < end; page++) {
    const hasEntries =
      page * PAGE_SIZE < last || layers.some(({ pages }) => pages.has(page));
    if (!hasEntries) continue;
    const pageEnd = Math.min(end, (page + 1) * PAGE_BLOCKS);
    for (let at = Math.max(first, page * PAGE_BLOCKS); at < pageEnd; at++)
      yield at;
  }
}

/** Joins blocks that come in their order. */
class ExtentList {
  readonly #found: Extent[] = [];
  readonly #start: number;
  readonly #end: number;

  constructor({ offset, length }: DiskRange) {
    this.#start = offset;
    this.#end = offset + length;
  }

  add(block: number, kind: Kind): void {
    if (kind === undefined) return;
    const from = Math.max(this.#start, block * BLOCK_SIZE);
    const to = Math.min(this.#end, (block + 1) * BLOCK_SIZE);
    this.#append(from, to, kind);
  }

  /** @param rest kind of what no block was added for; undefined: it is left out */
  finish(rest: Kind): readonly Extent[] {
    if (rest === undefined) return this.#found;
    const parts = this.#found.splice(0);
    let at = this.#start;
    for (const { offset, length, kind } of parts) {
      this.#append(at, offset, rest);
      this.#append(offset, offset + length, kind);
      at = offset + length;
    }
    this.#append(at, this.#end, rest);
    return this.#found;
  }

  #append(from: number, to: number, kind: Extent["kind"]): void {
    if (to <= from) return;
    const last = this.#found.at(-1);
    const joins = last?.kind === kind && last.offset + last.length === from;
    if (joins)
      this.#found[this.#found.length - 1] = {
        ...last,
        length: last.length + to - from,
      };
    else this.#found.push({ offset: from, length: to - from, kind });
  }
}
