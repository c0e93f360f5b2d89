import type { ObjectRow } from "../api/object-row.js";

/**
 * Maximum number of objects that are selected one by one; more are selected by the
 * filter that they match.
 */
export const MOST_CHOSEN = 10_000;

/** The selection of a list: some objects, as they were last read, or all that match now. */
export type Selection =
  | { readonly kind: "some"; readonly objects: ReadonlyMap<string, ObjectRow> }
  | { readonly kind: "all"; readonly count: number };

export const nothing: Selection = { kind: "some", objects: new Map() };

/** Whether a row is selected. */
export function isChosen(selection: Selection, id: string): boolean {
  return selection.kind === "all" || selection.objects.has(id);
}

/** Number of selected rows, also of those that are not loaded. */
export function countOf(selection: Selection): number {
  return selection.kind === "all" ? selection.count : selection.objects.size;
}

/**
 * Toggles one row. A selection of all matching rows cannot leave one out: it is
 * replaced by the row.
 */
export function toggle(selection: Selection, object: ObjectRow): Selection {
  const isIn = selection.kind === "some" && selection.objects.has(object.id);
  return isIn ? without(selection, object.id) : withAll(selection, [object]);
}

/** Adds objects to the selection, up to MOST_CHOSEN. */
export function withAll(
  selection: Selection,
  objects: Iterable<ObjectRow>,
): Selection {
  const chosen = new Map(selection.kind === "some" ? selection.objects : []);
  for (const object of objects) {
    if (chosen.size >= MOST_CHOSEN) break;
    chosen.set(object.id, object);
  }
  return { kind: "some", objects: chosen };
}

/** Updates the selected objects. Returns the same selection if nothing has changed. */
export function renewed(
  selection: Selection,
  rows: readonly ObjectRow[],
): Selection {
  if (selection.kind === "all") return selection;
  const news = rows.filter(({ id }) => selection.objects.has(id));
  if (news.every((row) => selection.objects.get(row.id) === row))
    return selection;
  return withAll(selection, news);
}

function without(selection: Selection, id: string): Selection {
  if (selection.kind === "all") return nothing;
  const chosen = new Map(selection.objects);
  chosen.delete(id);
  return { kind: "some", objects: chosen };
}
