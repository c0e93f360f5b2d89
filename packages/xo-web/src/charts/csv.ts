import type { Points } from "./stats-answer.js";

interface CsvColumn {
  readonly name: string;
  readonly points: Points;
}

/** CSV with a row for each time (ISO 8601, UTC); missing values are empty. */
export function toCsv(
  times: readonly number[],
  columns: readonly CsvColumn[],
): string {
  const rows = times.map((time, i) =>
    [
      new Date(time * 1000).toISOString(),
      ...columns.map(({ points }) => points[i] ?? ""),
    ].join(","),
  );
  const head = ["time", ...columns.map(({ name }) => quoted(name))].join(",");
  return `${[head, ...rows].join("\r\n")}\r\n`;
}

/** Spreadsheets interpret cells that begin with these characters as formulas. */
const FORMULA = /^[=+\-@\t\r]/;

function quoted(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
