import { errorTable } from "@xo-server/model";

/** Path of each page that is written from the source, and how. */
export const referencePages: Readonly<Record<string, () => string>> = {
  "docs/errors.md": toErrorPage,
};

/** The page of error codes, from the table of errors. */
function toErrorPage(): string {
  const rows = Object.entries(errorTable)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([code, { message, http, jsonRpc }]) => [
      `\`${code}\``,
      String(http),
      String(jsonRpc),
      message,
    ]);
  return `# Error codes

Every error of the server's own has a stable code. The REST API answers with the HTTP
status and \`{ "error": message, "data": { ... } }\`, JSON-RPC with the number and
\`data.code\`, the command line with the message and an exit code. Names in braces are
members of \`data\`.

An error that a pool returns keeps XAPI's own code and parameters: JSON-RPC \`-32000\` with
\`message\` \`CODE(parameters)\`, \`data.code\`, \`data.params\`; REST 502. Some
conditions have a row of their own below (\`VM_BAD_POWER_STATE\`, \`VDI_IN_USE\`,
\`NO_HOSTS_AVAILABLE\` ...): they are reported with its code and status.

This page is written by \`npm run docs\` from
[packages/model/src/errors.ts](../packages/model/src/errors.ts).

${toTable(["code", "HTTP", "JSON-RPC", "message"], rows)}`;
}

/** A Markdown table, its columns aligned as the formatter does it. */
function toTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const cells = [head, ...rows].map((row) =>
    row.map((cell) => cell.replaceAll("|", "\\|").replaceAll("*", "\\*")),
  );
  const widths = head.map((_, i) =>
    Math.max(3, ...cells.map((row) => row[i]!.length)),
  );
  const lines = cells.map(
    (row) => `| ${row.map((cell, i) => cell.padEnd(widths[i]!)).join(" | ")} |`,
  );
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return [lines[0]!, rule, ...lines.slice(1), ""].join("\n");
}
