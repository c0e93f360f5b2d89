import type { Column } from "./column.js";

/** A consumer of the log that has processed the frames up to `seen`. */
export interface LogFollower {
  /** Number of the last closed frame that was processed completely. */
  readonly seen: number;
}

/**
 * Changes between two frames. Rows are recorded when they are built; the frame
 * at the end closes its changes.
 */
class FrameChanges {
  readonly number: number;
  /** Rows whose object has changed in any way; not those of `replaced`. */
  readonly touched = new Set<number>();
  /** Rows that have another object than before, or none any more. */
  readonly replaced = new Set<number>();
  /** Rows whose object was removed, with the version of the log at that time. */
  readonly removed = new Map<number, number>();
  readonly byColumn = new Map<Column, Set<number>>();
  constructor(number: number) {
    this.number = number;
  }
}

/**
 * Records which rows of a table changed, and in which columns. The changes of a frame are
 * stored until all followers have processed them. Nothing is recorded while
 * there is no follower.
 */
export class ChangeLog {
  readonly #followers = new Set<LogFollower>();
  /** The last one is open: its frame has not been published yet. */
  readonly #frames: FrameChanges[] = [new FrameChanges(1)];
  #version = 0;

  /** Increases with every recorded change. */
  get version(): number {
    return this.#version;
  }

  /** Number of the last closed frame. */
  get closed(): number {
    return this.#open.number - 1;
  }

  follow(follower: LogFollower): void {
    this.#followers.add(follower);
  }

  unfollow(follower: LogFollower): void {
    this.#followers.delete(follower);
  }

  /**
   * The row's object was added or changed. @param isReplaced the row had
   * another object before, or none
   */
  recordSet(row: number, isReplaced: boolean): void {
    this.#version++;
    if (this.#followers.size === 0) return;
    if (isReplaced) this.#open.replaced.add(row);
    else this.#open.touched.add(row);
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

  /**
   * Records a change of more rows of a column than are listed one by one.
   * @returns the version of the change
   */
  recordBulkChange(): number {
    return ++this.#version;
  }

  closeFrame(): void {
    this.#version++;
    this.#frames.push(new FrameChanges(this.#open.number + 1));
    let oldestNeeded = this.closed;
    for (const { seen } of this.#followers)
      oldestNeeded = Math.min(oldestNeeded, seen);
    while (this.#frames[0]!.number <= oldestNeeded) this.#frames.shift();
  }

  /**
   * Rows with another object, or with another value in one of the columns,
   * since a frame. With `touched`: also rows with any other change of the
   * object.
   */
  rows(
    columns: readonly Column[],
    since: number,
    which: "of columns" | "touched" = "of columns",
  ): Set<number> {
    const rows = new Set<number>();
    for (const frame of this.#since(since)) {
      for (const row of frame.replaced) rows.add(row);
      if (which === "touched") for (const row of frame.touched) rows.add(row);
      for (const column of columns)
        for (const row of frame.byColumn.get(column) ?? []) rows.add(row);
    }
    return rows;
  }

  /** Whether the row's object was removed after this version of the log. */
  isRemoved(row: number, version: number): boolean {
    return this.#frames.some(
      ({ removed }) => (removed.get(row) ?? 0) > version,
    );
  }

  get #open(): FrameChanges {
    return this.#frames[this.#frames.length - 1]!;
  }

  #since(seen: number): readonly FrameChanges[] {
    const first = this.#frames[0]!.number;
    return seen < first ? this.#frames : this.#frames.slice(seen + 1 - first);
  }
}
