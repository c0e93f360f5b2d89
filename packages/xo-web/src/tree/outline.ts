import type { ObjectRow } from "../api/object-row.js";

/** A single line: a pool, a host, a tag, a heading. */
export interface TreeNode {
  /** Unique in the tree. */
  readonly key: string;
  readonly kind: "pool" | "host" | "tag" | "rest" | "found";
  /** Id of a pool or host. */
  readonly object?: ObjectRow;
  /** Label of other nodes: the tag, the type. */
  readonly name?: string;
  /** Level; 1 is the outermost. */
  readonly level: number;
  /** Position among its siblings, from 1, and their number: aria-posinset and aria-setsize. */
  readonly position: number;
  readonly size: number;
  /** Number of VMs in it. */
  readonly count?: number | undefined;
  /** Whether it is expanded; undefined: it has no children. */
  readonly isOpen?: boolean;
}

/** Request for the lines of a run. */
export interface RunRequest {
  readonly type: string;
  readonly filter?: string;
  readonly search?: string;
}

/**
 * A run: lines that are loaded when they become visible, for any number of objects,
 * sorted by name.
 */
interface TreeRun {
  readonly key: string;
  readonly request: RunRequest;
  readonly level: number;
  readonly total: number;
}

export type TreePart =
  | { readonly kind: "node"; readonly node: TreeNode }
  | { readonly kind: "run"; readonly run: TreeRun };

/** A line of the tree: a node, or the object at a position of a run. */
export type TreeLine =
  | { readonly kind: "node"; readonly node: TreeNode }
  | { readonly kind: "run"; readonly run: TreeRun; readonly position: number };

/** Visible lines of a run: from `first` to before `end`. */
interface SeenRun {
  readonly run: TreeRun;
  readonly first: number;
  readonly end: number;
}

/** The expanded part of a tree as consecutive lines; of runs only the number of lines is known. */
export class Outline {
  readonly parts: readonly TreePart[];
  readonly length: number;
  /** Number of the first line of each part. */
  readonly #starts: Uint32Array;
  readonly #partOf = new Map<string, number>();

  constructor(parts: readonly TreePart[]) {
    this.parts = parts;
    this.#starts = new Uint32Array(parts.length);
    let length = 0;
    parts.forEach((part, at) => {
      this.#starts[at] = length;
      this.#partOf.set(keyOf(part), at);
      length += sizeOf(part);
    });
    this.length = length;
  }

  /** Undefined beyond the end. */
  at(line: number): TreeLine | undefined {
    if (line < 0 || line >= this.length) return undefined;
    const at = this.#find(line);
    const part = this.parts[at]!;
    return part.kind === "node"
      ? part
      : { ...part, position: line - this.#starts[at]! };
  }

  /** The first line of a node or run; -1: it is not in the tree. */
  lineOf(key: string): number {
    const at = this.#partOf.get(key);
    return at === undefined ? -1 : this.#starts[at]!;
  }

  run(key: string): TreeRun | undefined {
    const part = this.parts[this.#partOf.get(key) ?? -1];
    return part?.kind === "run" ? part.run : undefined;
  }

  /** The line of the parent; -1: none. */
  parentOf(line: number): number {
    const found = this.at(line);
    if (found === undefined) return -1;
    const level = levelOf(found);
    for (let at = this.#find(line) - 1; at >= 0; at--) {
      const part = this.parts[at]!;
      if (part.kind === "node" && part.node.level < level)
        return this.#starts[at]!;
    }
    return -1;
  }

  runsBetween(first: number, end: number): SeenRun[] {
    const seen: SeenRun[] = [];
    if (this.length === 0) return seen;
    for (let at = this.#find(first); at < this.parts.length; at++) {
      const part = this.parts[at]!;
      const start = this.#starts[at]!;
      if (start >= end) break;
      if (part.kind === "node" || part.run.total === 0) continue;
      seen.push({
        run: part.run,
        first: Math.max(first - start, 0),
        end: Math.min(end - start, part.run.total),
      });
    }
    return seen;
  }

  /** The last part that begins at this line or before it. */
  #find(line: number): number {
    let low = 0;
    let high = this.parts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#starts[middle]! <= line) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** Depth of a line, for its indentation and `aria-level`. */
export function levelOf(line: TreeLine): number {
  return line.kind === "node" ? line.node.level : line.run.level;
}

function keyOf(part: TreePart): string {
  return part.kind === "node" ? part.node.key : part.run.key;
}

function sizeOf(part: TreePart): number {
  return part.kind === "node" ? 1 : part.run.total;
}
