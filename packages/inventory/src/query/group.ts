import { canonicalJson } from "../catalog/canonical-json.js";
import { compareTexts } from "./id-order.js";
import { mergeSort } from "./merge-sort.js";
import type { Group } from "./query.js";
import { invalid } from "./request.js";
import type { Result } from "./result.js";
import {
  compareSortValues,
  toSortValue,
  type SortValue,
} from "./sort-value.js";
import { ValueColumn } from "./value-column.js";
import type { ValuePath } from "./value-path.js";
import type { SlicedTask } from "./sliced-task.js";

/** Rows counted between two yields. */
const STEP = 4_096;
/** Distinct values grouped between two yields. */
const VALUE_STEP = 64;

/**
 * Counts the objects of a result by their values at a path; the largest groups
 * first.
 */
export function* readGroups(
  result: Result,
  path: ValuePath,
): SlicedTask<Group[]> {
  const columns = yield* result.columns.acquire([path]);
  try {
    const [column] = columns;
    if (column instanceof ValueColumn) return yield* groupBy(result, column);
    throw invalid(`${path.join(".")} cannot be grouped by`);
  } finally {
    result.columns.release(columns);
  }
}

function* groupBy(result: Result, column: ValueColumn): SlicedTask<Group[]> {
  const { dictionary } = column;
  dictionary.hold();
  try {
    yield* result.catchUp();
    const counts = yield* countCodes(result, column);
    return yield* toGroups(column, counts);
  } finally {
    dictionary.unhold();
  }
}

function* countCodes(
  result: Result,
  column: ValueColumn,
): SlicedTask<Float64Array> {
  const rows = result.members.toArray();
  let counts = new Float64Array(column.dictionary.codes);
  for (let i = 0; i < rows.length; i++) {
    const code = column.code(rows[i]!);
    if (code >= counts.length) counts = enlarged(counts, code);
    counts[code]!++;
    if (i % STEP === STEP - 1) yield;
  }
  return counts;
}

function enlarged(counts: Float64Array, code: number) {
  const more = new Float64Array(2 * code);
  more.set(counts);
  return more;
}

function* toGroups(
  column: ValueColumn,
  counts: Float64Array,
): SlicedTask<Group[]> {
  const groups = new Map<unknown, CountedGroup>();
  for (let code = 0; code < counts.length; code++) {
    const count = counts[code]!;
    if (count > 0)
      for (const key of keysOf(column.dictionary.valueOf(code)))
        addTo(groups, key, count);
    if (code % VALUE_STEP === VALUE_STEP - 1) yield;
  }
  const found = [...groups.values()];
  const order = yield* mergeSort(Int32Array.from(found.keys()), (a, b) =>
    compareGroups(found[a]!, found[b]!),
  );
  return Array.from(order, (position) => {
    const { key, count } = found[position]!;
    return { key, count };
  });
}

interface CountedGroup {
  readonly key: unknown;
  readonly sortValue: SortValue;
  count: number;
}

function addTo(
  groups: Map<unknown, CountedGroup>,
  key: unknown,
  count: number,
): void {
  const identity = identityOf(key);
  const group = groups.get(identity);
  if (group !== undefined) group.count += count;
  else groups.set(identity, { key, count, sortValue: toSortValue(key) });
}

function compareGroups(a: CountedGroup, b: CountedGroup): number {
  return (
    b.count - a.count ||
    compareSortValues(a.sortValue, b.sortValue) ||
    compareTexts(String(a.key), String(b.key))
  );
}

/** Group keys of a value: of a list each distinct member. */
function keysOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) return [value];
  if (value.length === 0) return [undefined];
  return [...new Map(value.map((one) => [identityOf(one), one])).values()];
}

function identityOf(key: unknown): unknown {
  return typeof key === "object" && key !== null
    ? `\0${canonicalJson(key)}`
    : key;
}
