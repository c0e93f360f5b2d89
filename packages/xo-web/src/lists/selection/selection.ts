import type { ObjectRow } from "../../api/object-row.js";

/**
 * Maximum number of objects that are selected one by one; more are selected by the
 * filter that they match.
 */
export const MAX_CHOSEN = 10_000;

/** Maximum number of objects that a selection of all can leave out. */
export const MAX_EXCLUDED = 1_000;

/** All objects that match the filter of the list, except some. */
export interface SelectionOfAll {
  readonly kind: "all";
  /** Number of objects that matched, with the excluded ones. */
  readonly count: number;
  /** Ids. */
  readonly excluded: ReadonlySet<string>;
}

/** The selection of a list: some objects, as they were last read, or all that match now. */
export type Selection =
  | { readonly kind: "some"; readonly objects: ReadonlyMap<string, ObjectRow> }
  | SelectionOfAll;

export const nothing: Selection = { kind: "some", objects: new Map() };

/** Whether a row is selected. */
export function isChosen(selection: Selection, id: string): boolean {
  return selection.kind === "all"
    ? !selection.excluded.has(id)
    : selection.objects.has(id);
}

/** Number of selected rows, also of those that are not loaded. */
export function countOf(selection: Selection): number {
  return selection.kind === "all"
    ? Math.max(selection.count - selection.excluded.size, 0)
    : selection.objects.size;
}

/**
 * Selects a row, or deselects it if it is selected.
 * @returns the same selection if it would exclude more than MAX_EXCLUDED
 */
export function toggle(selection: Selection, object: ObjectRow): Selection {
  return isChosen(selection, object.id)
    ? without(selection, object.id)
    : withAll(selection, [object]);
}

/** Adds objects to the selection, of single objects up to MAX_CHOSEN. */
export function withAll(
  selection: Selection,
  objects: Iterable<ObjectRow>,
): Selection {
  if (selection.kind === "all") {
    const excluded = new Set(selection.excluded);
    for (const { id } of objects) excluded.delete(id);
    return { ...selection, excluded };
  }
  const chosen = new Map(selection.objects);
  for (const object of objects) {
    if (chosen.size >= MAX_CHOSEN) break;
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
  const updated = rows.filter(({ id }) => selection.objects.has(id));
  if (updated.every((row) => selection.objects.get(row.id) === row))
    return selection;
  return withAll(selection, updated);
}

function without(selection: Selection, id: string): Selection {
  if (selection.kind === "all") {
    const { excluded } = selection;
    return excluded.size >= MAX_EXCLUDED
      ? selection
      : { ...selection, excluded: new Set([...excluded, id]) };
  }
  const chosen = new Map(selection.objects);
  chosen.delete(id);
  return { kind: "some", objects: chosen };
}
