import type { RunningProgram } from "../running-program.js";
import { toTable } from "./event-client.js";

type Row = Record<string, unknown>;

interface RowEvent {
  readonly event: string;
  readonly id?: string;
  readonly object?: Row;
  readonly changed?: readonly string[];
}

/** The rows that `xo-cli watch --json` has printed, and changes that it has printed twice. */
export function readWatched({ lines }: Pick<RunningProgram, "lines">): {
  readonly table: readonly string[];
  readonly doubled: readonly string[];
  readonly connections: number;
} {
  const rows = new Map<string, Row>();
  const doubled: string[] = [];
  let connections = 0;
  for (const line of lines) {
    if (!line.startsWith("{")) continue;
    const parsed = JSON.parse(line) as RowEvent;
    const { event, id = "", object = {}, changed = [] } = parsed;
    const before = rows.get(id);
    if (event === "ready") connections++;
    if (event === "add" && before !== undefined) doubled.push(line);
    if (event === "remove" && !rows.delete(id)) doubled.push(line);
    if (event === "change") {
      const isNew = changed.some(
        (field) =>
          JSON.stringify(before?.[field]) !== JSON.stringify(object[field]),
      );
      if (!isNew) doubled.push(line);
    }
    if (event === "add" || event === "change") rows.set(id, object);
  }
  return { table: toTable(rows.values()), doubled, connections };
}
