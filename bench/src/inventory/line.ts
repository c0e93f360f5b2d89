import { markdownTable } from "../harness/markdown.js";
import { figureOf, type Result } from "../harness/result.js";

/** One column of a section's table. */
export interface Figure {
  readonly title: string;
  readonly text: (figure: (name: string) => number) => string;
}

/** A column that shows a figure as it is. */
export function shown(
  title: string,
  name: string,
  format: (value: number) => string,
): Figure {
  return { title, text: (figure) => format(figure(name)) };
}

/** The lines of a section; a failed one has its reason. */
export function figureTable(
  title: string,
  results: readonly Result[],
  figures: readonly Figure[],
): string {
  return markdownTable(
    [
      { title },
      ...figures.map((one) => ({ title: one.title, align: "right" as const })),
      { title: "n", align: "right" },
    ],
    results.map((result) => cells(result, figures)),
  );
}

function cells(result: Result, figures: readonly Figure[]): string[] {
  if (result.runs === 0)
    return [
      result.mode,
      `not measured: ${result.failure ?? ""}`,
      ...figures.slice(1).map(() => ""),
      "0",
    ];
  return [
    result.mode,
    ...figures.map(({ text }) => text((name) => figureOf(result, name))),
    String(result.runs),
  ];
}
