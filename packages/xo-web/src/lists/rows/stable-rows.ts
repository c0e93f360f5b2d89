import type { ObjectRow } from "../../api/object-row.js";

/** Consecutive rows of a list. */
interface PlacedRows {
  readonly offset: number;
  readonly rows: readonly ObjectRow[];
}

/** The shown rows. */
export interface StableView extends PlacedRows {
  /**
   * Ids whose order is held; their current contents are passed to `renew`. Undefined:
   * the order is not held.
   */
  readonly held: readonly string[] | undefined;
  /**
   * Objects that were deleted, or no longer match; they keep their position while the
   * list is held.
   */
  readonly gone: ReadonlySet<string>;
}

const none: ReadonlySet<string> = new Set();

/**
 * Rows do not move under the pointer. While the pointer is over the rows, or one of them has the
 * focus, live data changes the contents of rows but not their positions: visible rows keep their
 * order, deleted rows stay (marked), new ones wait. A button shows that the order is outdated. The
 * server's order applies again when the pointer and the focus have left, when the button is
 * pressed, and when the user requests other rows by scrolling, filtering or sorting.
 */
export class StableRows {
  #view: StableView = { offset: 0, rows: [], held: undefined, gone: none };
  #live: PlacedRows = this.#view;
  /** Visible rows, by their index in the list. */
  #seen = { first: 0, end: 0 };
  #isHeld = false;

  get view(): StableView {
    return this.#view;
  }

  /**
   * New rows from the server.
   * @param isRequested the user has requested other rows since
   */
  take(live: PlacedRows, isRequested: boolean): StableView {
    this.#live = live;
    const isOther = isRequested || live.offset !== this.#view.offset;
    if (!this.#isHeld || isOther || !this.#differs()) return this.#release();
    return this.#hold(live.rows);
  }

  /** Updates the rows that are held back. @param found all of `held` that still match */
  renew(found: readonly ObjectRow[]): StableView {
    const { held } = this.#view;
    if (held === undefined) return this.#view;
    const ids = new Set(found.map(({ id }) => id));
    const gone = new Set(held.filter((id) => !ids.has(id)));
    return this.#hold(found, gone);
  }

  see(first: number, end: number): void {
    this.#seen = { first, end };
  }

  /** The pointer or the focus has entered or left. */
  hold(isHeld: boolean): StableView {
    this.#isHeld = isHeld;
    return isHeld ? this.#view : this.#release();
  }

  /** Applies the current order of the server. */
  update(): StableView {
    return this.#release();
  }

  #release(): StableView {
    this.#view = { ...this.#live, held: undefined, gone: none };
    return this.#view;
  }

  /** Keeps positions; contents are taken from `news`. */
  #hold(
    news: readonly ObjectRow[],
    gone: ReadonlySet<string> = this.#view.gone,
  ): StableView {
    const latest = new Map(news.map((row) => [row.id, row]));
    const rows = this.#view.rows.map((row) => latest.get(row.id) ?? row);
    const held = this.#seenOf(this.#view).map(({ id }) => id);
    this.#view = { offset: this.#view.offset, rows, held, gone };
    return this.#view;
  }

  /** Whether a visible row has another position, or none. Rows added behind them move none. */
  #differs(): boolean {
    const after = this.#seenOf(this.#live);
    return this.#seenOf(this.#view).some(
      ({ id }, index) => id !== after[index]?.id,
    );
  }

  #seenOf({ offset, rows }: PlacedRows): readonly ObjectRow[] {
    const { first, end } = this.#seen;
    return rows.slice(Math.max(first - offset, 0), Math.max(end - offset, 0));
  }
}
