import { NULL_REF } from "@xo-server/model";
import { linksOf } from "./relations.js";
import type { Row } from "./row.js";

/**
 * Computes the set sides of all relations of freshly loaded rows, in one pass
 * and without events.
 */
export function linkAll(
  rows: readonly Row[],
  find: (className: string, ref: string) => Row | undefined,
): void {
  const sets = new Map<Row, Map<string, Set<string>>>();
  for (const row of rows) {
    for (const { field, many, otherClass, otherField } of linksOf(
      row.className,
    )) {
      const value = row.record[field];
      const refs = (many ? value : [value]) as readonly string[];
      for (const ref of refs) {
        if (ref === NULL_REF || ref === "") continue;
        const other = find(otherClass, ref);
        if (other !== undefined) setOf(sets, other, otherField).add(row.ref);
      }
    }
  }
  for (const [row, fields] of sets) {
    const patch: Record<string, readonly string[]> = {};
    for (const [field, refs] of fields) patch[field] = [...refs];
    row.record = { ...row.record, ...patch };
  }
}

function setOf(
  sets: Map<Row, Map<string, Set<string>>>,
  row: Row,
  field: string,
): Set<string> {
  let fields = sets.get(row);
  if (fields === undefined)
    sets.set(row, (fields = new Map<string, Set<string>>()));
  let refs = fields.get(field);
  if (refs === undefined) {
    const input = (row.record[field] ?? []) as readonly string[];
    fields.set(field, (refs = new Set(input)));
  }
  return refs;
}
