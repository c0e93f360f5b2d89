import { PagedRows } from "./paged-rows.js";
import { ShardedIndex } from "./sharded-index.js";

/** Layout of an edge. Edges are numbered from 1; 0 means none. */
const Edge = {
  /** Hash of the dependency. A collision only causes an unnecessary rebuild of a view. */
  hash: 0,
  /** The row whose view reads it. */
  row: 1,
  /**
   * Doubly linked list of the edges with the same hash: one target may have
   * 50,000 readers.
   */
  next: 2,
  previous: 3,
  /** The next edge of the same row; of a free edge: the next free one. */
  nextOfRow: 4,
} as const;

/** Maximum number of dependencies that are searched one by one in the list of the row. */
const FEW = 8;

/**
 * Dependencies of views: rows by the hashes of what their views have read.
 *
 *     byHash: hash ─> edge ⇄ edge ⇄ edge        (all readers of one target)
 *     first:  row  ─> edge → edge → edge        (all that one row reads)
 */
export class DependencyIndex {
  readonly #edges = new PagedRows(5);
  readonly #firstEdge = new PagedRows(1);
  readonly #byHash = new ShardedIndex();
  #lastEdge = 0;
  #freeEdge = 0;
  #count = 0;

  /** Number of edges. */
  get count(): number {
    return this.#count;
  }

  get byteLength(): number {
    return (
      this.#edges.byteLength +
      this.#firstEdge.byteLength +
      this.#byHash.byteLength
    );
  }

  /** Replaces the dependencies of a row. Cheap when they are the same as before. */
  set(row: number, hashes: Int32Array, count: number): void {
    this.#firstEdge.reserve(row);
    if (this.#isSame(row, hashes, count)) return;
    this.clear(row);
    // Backwards, so that the row's list has the same order.
    for (let i = count - 1; i >= 0; i--) this.#link(row, hashes[i]!);
  }

  /** Adds dependencies to those that the row has. */
  add(row: number, hashes: Int32Array, count: number): void {
    this.#firstEdge.reserve(row);
    if (count > FEW) {
      this.#addMany(row, hashes, count);
      return;
    }
    for (let i = 0; i < count; i++)
      if (!this.#hasEdge(row, hashes[i]!)) this.#link(row, hashes[i]!);
  }

  /** Removes all dependencies of a row. */
  clear(row: number): void {
    this.#firstEdge.reserve(row);
    let edge = this.#firstEdge.get(row, 0);
    while (edge !== 0) {
      const next = this.#edges.get(edge, Edge.nextOfRow);
      this.#unlink(edge);
      edge = next;
    }
    this.#firstEdge.set(row, 0, 0);
  }

  /** Calls `visit` for each row that depends on the hash. */
  forEachReader(hash: number, visit: (row: number) => void): void {
    let edge = this.#headOf(hash);
    while (edge !== 0) {
      visit(this.#edges.get(edge, Edge.row));
      edge = this.#edges.get(edge, Edge.next);
    }
  }

  #isSame(row: number, hashes: Int32Array, count: number): boolean {
    let edge = this.#firstEdge.get(row, 0);
    for (let i = 0; i < count; i++) {
      if (edge === 0 || this.#edges.get(edge, Edge.hash) !== hashes[i])
        return false;
      edge = this.#edges.get(edge, Edge.nextOfRow);
    }
    return edge === 0;
  }

  /** A host reads its 1,000 VMs: its edges are walked once, not once for each. */
  #addMany(row: number, hashes: Int32Array, count: number): void {
    const present = new Set<number>();
    let edge = this.#firstEdge.get(row, 0);
    while (edge !== 0) {
      present.add(this.#edges.get(edge, Edge.hash));
      edge = this.#edges.get(edge, Edge.nextOfRow);
    }
    for (let i = 0; i < count; i++) {
      const hash = hashes[i]!;
      if (present.has(hash)) continue;
      present.add(hash);
      this.#link(row, hash);
    }
  }

  #hasEdge(row: number, hash: number): boolean {
    let edge = this.#firstEdge.get(row, 0);
    while (edge !== 0 && this.#edges.get(edge, Edge.hash) !== hash)
      edge = this.#edges.get(edge, Edge.nextOfRow);
    return edge !== 0;
  }

  #headOf(hash: number): number {
    const shard = this.#byHash.shard(hash);
    const slot = shard.first(hash);
    return slot < 0 ? 0 : shard.rowAt(slot);
  }

  #link(row: number, hash: number): void {
    const edges = this.#edges;
    const edge = this.#allocateEdge();
    const head = this.#headOf(hash);
    edges.set(edge, Edge.hash, hash);
    edges.set(edge, Edge.row, row);
    edges.set(edge, Edge.nextOfRow, this.#firstEdge.get(row, 0));
    this.#firstEdge.set(row, 0, edge);
    if (head === 0) {
      edges.set(edge, Edge.next, 0);
      edges.set(edge, Edge.previous, 0);
      this.#byHash.add(hash, edge);
      return;
    }
    // Inserted behind the head: the hash index stays unchanged.
    const second = edges.get(head, Edge.next);
    edges.set(edge, Edge.next, second);
    edges.set(edge, Edge.previous, head);
    edges.set(head, Edge.next, edge);
    if (second !== 0) edges.set(second, Edge.previous, edge);
  }

  #unlink(edge: number): void {
    const edges = this.#edges;
    const hash = edges.get(edge, Edge.hash);
    const next = edges.get(edge, Edge.next);
    const previous = edges.get(edge, Edge.previous);
    if (next !== 0) edges.set(next, Edge.previous, previous);
    if (previous !== 0) edges.set(previous, Edge.next, next);
    else {
      this.#byHash.remove(hash, edge);
      if (next !== 0) this.#byHash.add(hash, next);
    }
    edges.set(edge, Edge.nextOfRow, this.#freeEdge);
    this.#freeEdge = edge;
    this.#count--;
  }

  #allocateEdge(): number {
    this.#count++;
    const free = this.#freeEdge;
    if (free !== 0) {
      this.#freeEdge = this.#edges.get(free, Edge.nextOfRow);
      return free;
    }
    this.#edges.reserve(++this.#lastEdge);
    return this.#lastEdge;
  }
}
