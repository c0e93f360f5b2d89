import { emptyView, type WindowView } from "../live/live-window.js";
import { isObject, type Json } from "@xo-server/kit";

/**
 * The shown part of a live window. While the pointer is over it, names and states
 * change but positions do not; other changes are applied when the pointer leaves.
 */
export class HeldWindow {
  shown: WindowView = emptyView;
  #latest: WindowView = emptyView;

  take(view: WindowView, isHeld: boolean): void {
    this.#latest = view;
    this.shown = isHeld && this.#moves(view) ? this.#keepOrder(view) : view;
  }

  release(): void {
    this.shown = this.#latest;
  }

  /** Other rows at the same position: not those of another list, which were requested. */
  #moves({ offset, rows, total, state }: WindowView): boolean {
    const before = this.shown;
    if (before.state === "loading" || state !== "live") return false;
    if (before.offset !== offset || before.rows.length === 0) return false;
    return (
      before.total !== total ||
      before.rows.some((row, at) => idOf(row) !== idOf(rows[at]))
    );
  }

  #keepOrder(view: WindowView): WindowView {
    const news = new Map(view.rows.map((row) => [idOf(row), row]));
    const rows = this.shown.rows.map((row) => news.get(idOf(row)) ?? row);
    return { ...this.shown, rows, state: view.state };
  }
}

function idOf(row: Json | undefined): Json | undefined {
  return isObject(row) ? row["id"] : undefined;
}
