import type { Column } from "./column.js";

/** Somebody who still has to look at the changes after `seen`. */
export interface LogFollower {
  /** The last closed epoch that was seen whole. */
  readonly seen: number;
}

/** What changed between two frames. Rows are told as they are made; the frame at the end closes the epoch. */
class Epoch {
  readonly number: number;
  /** Rows that were set. */
  readonly touched = new Set<number>();
  /** Rows that have another object than before, or none. */
  readonly replaced = new Set<number>();
  /** Rows whose object went, with the log's version then. */
  readonly removed = new Map<number, number>();
  readonly byColumn = new Map<Column, Set<number>>();
  constructor(number: number) {
    this.number = number;
  }
}

/** Which rows of a table changed, and in which columns: kept until all followers have seen it. Who begins to follow knows what there was before. */
export class ChangeLog {
  readonly #followers = new Set<LogFollower>();
  /** The last one is open: the frame that closes it is not there yet, its rows are. */
  readonly #epochs: Epoch[] = [new Epoch(1)];
  #version = 0;

  /** Rises with everything that is noted. */
  get version(): number {
    return this.#version;
  }

  /** Number of the last epoch that is closed. */
  get closed(): number {
    return this.#open.number - 1;
  }

  follow(follower: LogFollower): void {
    this.#followers.add(follower);
  }

  unfollow(follower: LogFollower): void {
    this.#followers.delete(follower);
  }

  recordSet(row: number, isReplaced: boolean): void {
    this.#version++;
    if (this.#followers.size === 0) return;
    this.#open.touched.add(row);
    if (isReplaced) this.#open.replaced.add(row);
  }

  recordRemoved(row: number): void {
    this.#version++;
    if (this.#followers.size === 0) return;
    this.#open.removed.set(row, this.#version);
    this.#open.replaced.add(row);
  }

  recordColumn(row: number, column: Column): void {
    this.#version++;
    if (this.#followers.size === 0) return;
    const { byColumn } = this.#open;
    const rows = byColumn.get(column);
    if (rows === undefined) byColumn.set(column, new Set([row]));
    else rows.add(row);
  }

  /** So many rows have other values in a column that nobody notes which. @returns the version from which on that holds */
  recordBulkChange(): number {
    return ++this.#version;
  }

  closeEpoch(): void {
    this.#version++;
    this.#epochs.push(new Epoch(this.#open.number + 1));
    let oldestNeeded = this.closed;
    for (const { seen } of this.#followers)
      oldestNeeded = Math.min(oldestNeeded, seen);
    while (this.#epochs[0]!.number <= oldestNeeded) this.#epochs.shift();
  }

  /** Rows with another object than before, or other values in these columns; `touched`: other values anywhere in the object as well. */
  rows(
    columns: readonly Column[],
    since: number,
    which: "of columns" | "touched" = "of columns",
  ): Set<number> {
    const rows = new Set<number>();
    for (const epoch of this.#since(since)) {
      for (const row of epoch.replaced) rows.add(row);
      if (which === "touched") for (const row of epoch.touched) rows.add(row);
      for (const column of columns)
        for (const row of epoch.byColumn.get(column) ?? []) rows.add(row);
    }
    return rows;
  }

  /** Has the row's object gone since the log had this version? */
  isRemoved(row: number, version: number): boolean {
    return this.#epochs.some(
      ({ removed }) => (removed.get(row) ?? 0) > version,
    );
  }

  get #open(): Epoch {
    return this.#epochs[this.#epochs.length - 1]!;
  }

  #since(seen: number): readonly Epoch[] {
    const first = this.#epochs[0]!.number;
    return seen < first ? this.#epochs : this.#epochs.slice(seen + 1 - first);
  }
}
