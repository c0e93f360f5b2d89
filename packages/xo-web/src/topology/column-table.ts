import { isObject, type Json } from "@xo-server/kit";

/** A few properties of many objects, by columns, as query.columns returns them. */
export class TopologyColumns {
  readonly ids: readonly string[];
  /** For `known` of the next question. */
  readonly state: string | undefined;
  readonly total: number;
  readonly #columns: ReadonlyMap<string, readonly Json[]>;

  constructor(
    ids: readonly string[],
    columns: ReadonlyMap<string, readonly Json[]>,
    { state, total = ids.length }: { state?: string; total?: number } = {},
  ) {
    this.ids = ids;
    this.state = state;
    this.total = total;
    this.#columns = columns;
  }

  /** Its values in the order of the ids. */
  column(path: string): readonly Json[] {
    return this.#columns.get(path) ?? [];
  }

  /** This table with the changes of a response; itself without changes. */
  take(answer: Json): TopologyColumns {
    if (!isObject(answer)) return this;
    const { ids, columns, state, total } = answer;
    const changed = isObject(columns) ? Object.entries(columns) : [];
    if (!Array.isArray(ids) && changed.length === 0 && this.state === state)
      return this;
    const next = new Map(this.#columns);
    for (const [path, column] of changed) next.set(path, valuesOf(column));
    return new TopologyColumns(
      Array.isArray(ids) ? (ids as string[]) : this.ids,
      next,
      {
        ...(typeof state === "string" ? { state } : {}),
        ...(typeof total === "number" ? { total } : {}),
      },
    );
  }
}

export const noRows = new TopologyColumns([], new Map());

/** `{values}`, `{values, indexes}`, or `{step, values}` for what is measured. */
function valuesOf(column: Json): readonly Json[] {
  if (!isObject(column)) return [];
  const values = listOf(column["values"]);
  const { indexes, step } = column;
  if (Array.isArray(indexes))
    return listOf(indexes).map((index) => values[Number(index)] ?? null);
  if (typeof step !== "number") return values;
  return values.map((value) =>
    typeof value === "number" && value >= 0 ? value * step : null,
  );
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}
