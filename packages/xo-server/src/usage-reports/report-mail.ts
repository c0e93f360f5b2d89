import type { MailMessage } from "../notifications/mail-sender.js";
import { toCsv } from "./report-csv.js";
import { toHtml } from "./report-html.js";
import {
  figureLines,
  listNames,
  periodText,
  valueText,
} from "./report-text.js";
import {
  topLists,
  type PoolFigures,
  type UsageFigures,
} from "./usage-figures.js";

/** @param jobName empty: the default title */
export function subjectOf(figures: UsageFigures, jobName: string): string {
  const name = jobName === "" ? "Usage report" : jobName;
  // On one line, because an administrator chooses the name.
  return `${name}: ${periodText(figures)}`.replace(/\s+/g, " ");
}

/** HTML and plain text with the same content, and all figures as a table for spreadsheets. */
export function toMail(
  figures: UsageFigures,
  jobName: string,
): Pick<MailMessage, "subject" | "text" | "html" | "attachments"> {
  const day = new Date(figures.to).toISOString().slice(0, 10);
  return {
    subject: subjectOf(figures, jobName),
    text: figures.pools.map(toText).join("\n\n"),
    html: toHtml(figures),
    attachments: [
      {
        filename: `usage-${day}.csv`,
        content: toCsv(figures),
        contentType: "text/csv; charset=utf-8",
      },
    ],
  };
}

function toText(pool: PoolFigures): string {
  return [
    pool.name,
    ...figureLines(pool).map(
      ({ name, value, change }) =>
        `  ${name}: ${value}${change === "" ? "" : ` (${change})`}`,
    ),
    ...topLists.flatMap((list) =>
      pool.top[list].length === 0
        ? []
        : [
            `  ${listNames[list]}:`,
            ...pool.top[list].map(
              (one) => `    ${one.name}: ${valueText(list, one)}`,
            ),
          ],
    ),
  ].join("\n");
}
