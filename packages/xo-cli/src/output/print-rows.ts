import type { Context } from "../context.js";
import { valueAt, type Row } from "../objects/path.js";
import { toCell } from "./cell.js";
import { toTable } from "./table.js";

/**
 * Prints rows as a table; with `--json` the objects as they are.
 * @param columns paths in the rows, which are their titles too; ids are never truncated
 */
export async function printRows(
  { terminal }: Context,
  {
    objects,
    rows,
    columns,
    none,
  }: {
    readonly objects: unknown;
    readonly rows: readonly Row[];
    readonly columns: readonly string[];
    /** Text that is printed if there are no rows. */
    readonly none: string;
  },
): Promise<void> {
  if (terminal.json) {
    await terminal.jsonLine(objects);
    return;
  }
  if (rows.length === 0) {
    await terminal.note(none);
    return;
  }
  const heads = columns.map((title) => ({ title, isKept: title === "id" }));
  const cells = rows.map((row) =>
    columns.map((path) => toCell(path, valueAt(row, path))),
  );
  const [head, ...lines] = toTable(heads, cells, terminal.columns);
  await terminal.line([terminal.colors.bold(head), ...lines].join("\n"));
}
