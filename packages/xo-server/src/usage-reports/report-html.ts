import { escapeMarkup } from "../encoding/escape-markup.js";
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

const CELL = "padding:4px 12px 4px 0;text-align:left;vertical-align:top";
const NUMBER = "padding:4px 12px 4px 0;text-align:right;white-space:nowrap";

/** A page for mail programs: without scripts, images or addresses. */
export function toHtml(figures: UsageFigures): string {
  const { comparedWith, pools, lostPools } = figures;
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Usage report</title></head>',
    '<body style="font-family:sans-serif;font-size:14px;color:#1a1a1a">',
    `<h1 style="font-size:20px">Usage report, ${periodText(figures)}</h1>`,
    ...(comparedWith === undefined
      ? ["<p>There is no report of the last period to compare with.</p>"]
      : [
          `<p>Changes are since the report of ${new Date(comparedWith).toISOString().slice(0, 10)}.</p>`,
        ]),
    ...(lostPools.length === 0
      ? []
      : [`<p>No longer there: ${escapeMarkup(lostPools.join(", "))}</p>`]),
    ...pools.map(toSection),
    "</body></html>",
  ].join("\n");
}

function toSection(pool: PoolFigures): string {
  const rows = figureLines(pool).map(
    ({ name, value, change }) =>
      `<tr><th scope="row" style="${CELL}">${name}</th><td style="${CELL}">${escapeMarkup(value)}</td><td style="${NUMBER}">${escapeMarkup(change)}</td></tr>`,
  );
  const lists = topLists
    .filter((list) => pool.top[list].length > 0)
    .map((list) => {
      const items = pool.top[list].map(
        (one) =>
          `<tr><td style="${CELL}">${escapeMarkup(one.name)}</td><td style="${NUMBER}">${valueText(list, one)}</td></tr>`,
      );
      return `<h3 style="font-size:14px">${listNames[list]}</h3><table>${items.join("")}</table>`;
    });
  const { silentHosts } = pool;
  const silent =
    silentHosts.length === 0
      ? ""
      : `<p>Hosts without measurements: ${escapeMarkup(silentHosts.join(", "))}</p>`;
  return `<h2 style="font-size:17px">${escapeMarkup(pool.name)}</h2>${silent}<table>${rows.join("")}</table>${lists.join("")}`;
}
