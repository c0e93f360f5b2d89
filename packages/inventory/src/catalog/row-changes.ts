import type { ViewChange } from "./catalog.js";
import type { ClassContext } from "./class-context.js";
import { RowFlag } from "./view-row-table.js";
import type { ViewRows } from "./view-rows.js";

/** Maximum number of changes per frame. A pool that is added results in several frames. */
const MAX_CHANGES = 2048;

/** The encoded object of a change, and the patch from the one before. */
export type ChangeContent = Pick<ViewChange, "json" | "patch">;

interface RowChangesOptions {
  readonly context: ClassContext;
  readonly table: ViewRows;
  /** The row's view has to be rebuilt. */
  readonly markDirty: (row: number) => void;
}

/** The changes of one class that are not published yet. */
export class RowChanges {
  readonly #options: RowChangesOptions;
  readonly #context: ClassContext;
  #listed: ViewChange[] = [];
  /** Rows that have changed while the feed had no subscriber. */
  #unlisted: number[] = [];

  constructor(options: RowChangesOptions) {
    this.#options = options;
    this.#context = options.context;
  }

  get count(): number {
    return this.#listed.length + this.#unlisted.length;
  }

  get isFull(): boolean {
    return this.count >= MAX_CHANGES;
  }

  add(
    row: number,
    kind: ViewChange["kind"],
    content: ChangeContent = {},
  ): void {
    const { rows, types, pools, feed } = this.#context;
    if (!feed.hasSubscribers) {
      this.#unlisted.push(row);
      return;
    }
    this.#listed.push({
      row,
      id: rows.id(row),
      type: types[rows.type(row)]!,
      pool: pools.name(rows.pool(row)),
      kind,
      ...content,
    });
  }

  /** Publishes the changes as a frame. */
  publish(): void {
    const { rows, feed, summaries, view } = this.#context;
    this.#publishUnlisted();
    const changes = this.#listed;
    if (changes.length === 0) return;
    this.#listed = [];
    const frame = feed.push({
      className: view.className,
      changes,
      summaries: summaries.takeChanged(),
    });
    changes.forEach(({ row }, index) => {
      rows.setRevision(row, frame.first + index);
    });
    this.#options.table.notifyFlushed();
    feed.notify(frame);
  }

  #publishUnlisted(): void {
    const { rows, feed, summaries } = this.#context;
    const unlisted = this.#unlisted;
    if (unlisted.length === 0) return;
    this.#unlisted = [];
    summaries.takeChanged();
    if (feed.hasSubscribers) {
      // A subscriber was added in the meantime, which gets these changes in frames.
      for (const row of unlisted)
        if (rows.has(row, RowFlag.live)) this.#options.markDirty(row);
    } else {
      const first = feed.skip(unlisted.length);
      unlisted.forEach((row, index) => {
        rows.setRevision(row, first + index);
      });
    }
    this.#options.table.notifyFlushed();
  }
}
