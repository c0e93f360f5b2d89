import { ExitCode } from "../lifecycle/exit-code.js";
import type { Finding, FindingStatus } from "./finding.js";

/** @param json whether the report is one JSON object instead of lines for humans */
export function toReport(findings: readonly Finding[], json: boolean): string {
  const counts = {
    errors: count(findings, "error"),
    warnings: count(findings, "warning"),
  };
  if (json) return `${JSON.stringify({ ...counts, findings }, null, 2)}\n`;
  const width = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.flatMap(({ check, status, message, remedy }) => [
    `${status.padEnd(8)} ${check.padEnd(width)}  ${message}`,
    ...(remedy === undefined ? [] : [`${" ".repeat(width + 11)}-> ${remedy}`]),
  ]);
  return `${[...lines, `errors: ${counts.errors}, warnings: ${counts.warnings}`].join("\n")}\n`;
}

/** The exit code of the most severe finding. */
export function toExitCode(findings: readonly Finding[]): ExitCode {
  if (count(findings, "error") > 0) return ExitCode.failed;
  return count(findings, "warning") > 0 ? ExitCode.warnings : ExitCode.ok;
}

function count(findings: readonly Finding[], requested: FindingStatus): number {
  return findings.filter(({ status }) => status === requested).length;
}
