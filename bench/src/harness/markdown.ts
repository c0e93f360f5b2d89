type Align = "left" | "right";

interface Column {
  readonly title: string;
  readonly align?: Align;
}

/** A table in GitHub's Markdown; cells may not hold line breaks. */
export function markdownTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [
    line(columns.map(({ title }) => title)),
    line(columns.map(({ align }) => (align === "right" ? "--:" : "---"))),
    ...rows.map(line),
  ].join("\n");
}

/** The parts of a document with an empty line between them, and one line break at the end. */
export function markdownDocument(
  parts: readonly (string | undefined)[],
): string {
  return `${parts.filter((part) => part !== undefined && part !== "").join("\n\n")}\n`;
}
