import type { Figures } from "../harness/figures.js";
import { toResult, type Result } from "../harness/result.js";
import type { Measured } from "../harness/rounds.js";
import type { Row } from "./row.js";

/** The results of a row: one for each name before a slash in its figures, or a single one. */
export function toResults({ row, runs, failure }: Measured<Row>): Result[] {
  const { pool, section: place } = row;
  const names = [
    ...new Set(Object.keys(runs[0] ?? {}).map((name) => partOf(name)[0])),
  ];
  const modes =
    names.length === 0 || names[0] === undefined ? [row.mode] : names;
  return modes.map((mode) =>
    toResult(
      { pool, mode: mode ?? row.mode, place },
      {
        runs:
          names[0] === undefined ? runs : runs.map((run) => only(run, mode)),
        ...(failure === undefined ? {} : { failure }),
      },
    ),
  );
}

function only(run: Figures, mode: string | undefined): Figures {
  return Object.fromEntries(
    Object.entries(run).flatMap(([name, value]) => {
      const [part, figure] = partOf(name);
      return part === mode ? [[figure, value]] : [];
    }),
  );
}

function partOf(name: string): [part: string | undefined, figure: string] {
  const at = name.lastIndexOf("/");
  return at < 0 ? [undefined, name] : [name.slice(0, at), name.slice(at + 1)];
}
