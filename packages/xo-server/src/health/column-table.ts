import type { ColumnsAnswer, Steps } from "@xo-server/inventory";

/** Properties of objects by row. */
export interface ColumnTable {
  readonly ids: readonly string[];
  /** Values by row; undefined where an object has none. */
  readonly column: (path: string) => (row: number) => unknown;
}

interface ColumnJson {
  readonly values: readonly unknown[];
  readonly indexes?: readonly number[];
}

/** Parses the columns of an answer, each in a step of its own. */
export async function toColumnTable(
  answer: ColumnsAnswer,
  runInSlices: (steps: Steps) => Promise<void>,
): Promise<ColumnTable> {
  let ids: readonly string[] = [];
  const columns = new Map<string, ColumnJson>();
  await runInSlices(
    (function* () {
      ids = JSON.parse(answer.ids?.toString() ?? "[]") as string[];
      yield;
      for (const [path, json] of answer.columns) {
        columns.set(path, JSON.parse(json.toString()) as ColumnJson);
        yield;
      }
    })(),
  );
  return {
    ids,
    column(path) {
      const { values, indexes } = columns.get(path)!;
      return (row) => values[indexes?.[row] ?? row] ?? undefined;
    },
  };
}
