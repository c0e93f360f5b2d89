/** One bar in each group, in the same place and colour. */
export interface Series {
  readonly name: string;
  /** Index into the palette: related series share one. */
  readonly colour: number;
  /** Drawn pale: the same thing done the slower way. */
  readonly pale?: boolean;
  /** One value a group; NaN leaves the place empty. */
  readonly values: readonly number[];
}

interface BarChart {
  readonly title: string;
  readonly subtitle: string;
  readonly groups: readonly string[];
  readonly series: readonly Series[];
  /** The text above a bar. */
  readonly label: (value: number) => string;
}

const BAR = 17;
const GROUP_GAP = 44;
const LEFT = 64;
const TOP = 74;
const PLOT = 320;
const LEGEND_ROW = 20;
const LEGEND_COLUMN = 220;

/** Visible on white and on black, and distinguishable with red-green colour blindness. */
const PALETTE = [
  "#8a8f98",
  "#aab0b8",
  "#6a717b",
  "#0f7b6c",
  "#2f6fde",
  "#b8860b",
  "#8250df",
  "#bf3989",
  "#8c5a3c",
  "#e36209",
  "#b62324",
];

/**
 * A bar chart as an SVG document, with a logarithmic scale: bars that differ
 * by a factor of 100 are all to be seen. Follows the reader's dark mode.
 */
export function barChart(chart: BarChart): string {
  const { groups, series } = chart;
  const groupWidth = series.length * BAR;
  const width = Math.max(
    LEFT + groups.length * (groupWidth + GROUP_GAP) + 10,
    LEFT + 3 * LEGEND_COLUMN,
  );
  const perRow = Math.max(1, Math.floor((width - LEFT) / LEGEND_COLUMN));
  const height =
    TOP + PLOT + 48 + Math.ceil(series.length / perRow) * LEGEND_ROW + 10;
  const scale = logScale(series.flatMap(({ values }) => values));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escapeXml(chart.title)}</title>`,
    style(),
    `<rect class="paper" width="${width}" height="${height}"/>`,
    `<text class="title" x="${LEFT}" y="26">${escapeXml(chart.title)}</text>`,
    `<text class="note" x="${LEFT}" y="45">${escapeXml(chart.subtitle)}</text>`,
    ...scale.ticks.map((tick) => gridLine(tick, scale.y(tick), width)),
    ...groups.flatMap((name, index) =>
      drawGroup(
        chart,
        { name, index, x: LEFT + 20 + index * (groupWidth + GROUP_GAP) },
        scale,
      ),
    ),
    ...series.map((each, index) => legend(each, index, perRow)),
    "</svg>\n",
  ].join("\n");
}

interface Scale {
  readonly ticks: readonly number[];
  /** Height of a value in the picture, from its top. */
  y(value: number): number;
}

function logScale(values: readonly number[]): Scale {
  const real = values.filter((value) => Number.isFinite(value) && value > 0);
  const low = Math.floor(Math.log10(Math.min(...real, 10)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...real, 10))));
  return {
    ticks: Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i)),
    y: (value) =>
      round(TOP + PLOT * (1 - (Math.log10(value) - low) / (high - low))),
  };
}

function gridLine(value: number, y: number, width: number): string {
  return (
    `<line class="grid" x1="${LEFT}" x2="${width - 10}" y1="${y}" y2="${y}"/>` +
    `<text class="note" x="${LEFT - 8}" y="${y + 4}" text-anchor="end">${value.toLocaleString("en-US")}</text>`
  );
}

function drawGroup(
  { series, label }: BarChart,
  group: { name: string; index: number; x: number },
  scale: Scale,
): string[] {
  const bottom = TOP + PLOT;
  const bars = series.map(({ name, colour, pale, values }, i) => {
    const value = values[group.index] ?? Number.NaN;
    if (!Number.isFinite(value) || value <= 0) return "";
    const x = group.x + i * BAR;
    const y = Math.min(scale.y(value), bottom - 1);
    const middle = x + BAR / 2 + 2;
    return (
      `<rect x="${x + 1}" y="${y}" width="${BAR - 3}" height="${round(bottom - y)}" rx="1" fill="${paint(colour)}"${pale === true ? ' fill-opacity="0.5"' : ""}>` +
      `<title>${escapeXml(`${group.name}, ${name}: ${label(value)}`)}</title></rect>` +
      `<text class="value" transform="translate(${middle} ${y - 4}) rotate(-90)">${escapeXml(label(value))}</text>`
    );
  });
  const centre = group.x + (series.length * BAR) / 2;
  return [
    ...bars,
    `<text class="group" x="${centre}" y="${bottom + 22}" text-anchor="middle">${escapeXml(group.name)}</text>`,
  ];
}

function legend(
  { name, colour, pale }: Series,
  index: number,
  perRow: number,
): string {
  const x = LEFT + (index % perRow) * LEGEND_COLUMN;
  const y = TOP + PLOT + 48 + Math.floor(index / perRow) * LEGEND_ROW;
  return (
    `<rect x="${x}" y="${y - 10}" width="12" height="12" rx="1" fill="${paint(colour)}"${pale === true ? ' fill-opacity="0.5"' : ""}/>` +
    `<text class="legend" x="${x + 18}" y="${y}">${escapeXml(name)}</text>`
  );
}

function style(): string {
  return `<style>
text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.title { font-size: 16px; font-weight: 600 }
.group { font-size: 13px; font-weight: 600 }
.note { fill: #59636e }
.value { font-size: 10px; fill: #59636e }
.paper { fill: #ffffff }
.grid { stroke: #d1d9e0; stroke-width: 1 }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc }
  .note, .value { fill: #9198a1 }
  .paper { fill: #0d1117 }
  .grid { stroke: #3d444d }
}
</style>`;
}

function paint(colour: number): string {
  return PALETTE[colour % PALETTE.length]!;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escapeXml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
