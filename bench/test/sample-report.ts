import { toResult, type Report, type Result } from "../src/harness/result.js";

/** A report of one machine with these results. */
export function sampleReport(results: readonly Result[]): Report {
  return {
    results,
    machine: {
      cpu: "x",
      cores: 2,
      memoryBytes: 8e9,
      system: "linux x64",
      node: "20.20.2",
    },
    versions: { ws: "8" },
    commit: "abc",
    date: "2026-01-01",
  };
}

/** The same with one run for each mode, figures by mode. */
export function sampleReportOf(
  rows: Readonly<Record<string, Readonly<Record<string, number>>>>,
  pool = "",
): Report {
  return sampleReport(
    Object.entries(rows).map(([mode, figures]) =>
      toResult({ pool, mode, place: "" }, { runs: [figures] }),
    ),
  );
}
