import type uPlot from "uplot";
import type { ChartLine, TimeSpan } from "./chart-line.js";
import { colourName } from "./chart-line.js";

interface PlotSettings {
  readonly lines: readonly ChartLine[];
  readonly colours: ReadonlyMap<string, string>;
  /** In pixels. */
  readonly width: number;
  readonly height: number;
  /** Charts with the same key share their cursor. */
  readonly syncKey: string;
  /** Minimum upper end of the axis. */
  readonly floor: number;
  readonly span: () => TimeSpan;
  /** Bytes in binary units. */
  readonly isBinary: boolean;
  /** Percentages, which are shown without decimals. */
  readonly isWhole: boolean;
  readonly inUnit: (value: number) => string;
  readonly timeLabel: (s: number) => string;
  /** Index of the points at the cursor; undefined: none. */
  readonly onCursor: (index: number | undefined) => void;
  readonly onZoom: (span: TimeSpan) => void;
  readonly onBack: () => void;
}

/** Minimum width of the vertical axis, width of a character and gap to the chart, in pixels. */
const MIN_AXIS = 68;
const CHARACTER = 7;
const AXIS_GAP = 16;
/** Distances of marks of an axis of bytes: powers of two, so that labels are whole KiB, MiB or GiB. */
const binarySteps = Array.from({ length: 50 }, (_, i) => 2 ** i);

/** Distances of marks that are whole numbers: 2.5 and 7.5 percent would be shown as 3 and 8. */
const wholeSteps = [1, 2, 5, 10, 20, 25, 50, 100, 200, 500, 1000, 2000, 5000];

/** @param labels null: none are drawn yet */
export function axisWidth(labels: readonly string[] | null): number {
  const longest = Math.max(0, ...(labels ?? []).map(({ length }) => length));
  return Math.max(MIN_AXIS, longest * CHARACTER + AXIS_GAP);
}

const FONT = '12px Inter, system-ui, "Segoe UI", Roboto, sans-serif';
/** Minimum distance of a drag in pixels. */
const MIN_DRAG = 6;

/** Options of uPlot for a chart. */
export function plotOptions(settings: PlotSettings): uPlot.Options {
  const { colours, floor } = settings;
  return {
    width: settings.width,
    height: settings.height,
    legend: { show: false },
    padding: [10, 22, 0, 0],
    cursor: {
      sync: { key: settings.syncKey, setSeries: false },
      drag: { x: true, y: false, setScale: false },
      y: false,
      bind: {
        dblclick: () => () => {
          settings.onBack();
          return null;
        },
      },
    },
    scales: {
      x: {
        range: () => {
          const { from, to } = settings.span();
          return [from, to];
        },
      },
      y: {
        range: (_plot, _least, most) => [0, 1.06 * Math.max(most || 0, floor)],
      },
    },
    series: [{}, ...settings.lines.map((line) => seriesOf(line, colours))],
    axes: [
      {
        ...axisOf(colours),
        values: (_plot, times) => times.map(settings.timeLabel),
        space: 80,
        size: 28,
      },
      {
        ...axisOf(colours),
        values: (_plot, values) => values.map(settings.inUnit),
        space: 34,
        size: (_plot, labels) => axisWidth(labels),
        ...stepsOf(settings),
      },
    ],
    hooks: {
      setCursor: [
        ({ cursor }) => {
          settings.onCursor(cursor.idx ?? undefined);
        },
      ],
      setSelect: [
        (plot) => {
          const { left, width } = plot.select;
          if (width < MIN_DRAG) return;
          const from = plot.posToVal(left, "x");
          const to = plot.posToVal(left + width, "x");
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          settings.onZoom({ from, to });
        },
      ],
    },
  };
}

function seriesOf(
  { label, colour, isCompared = false, id }: ChartLine,
  colours: ReadonlyMap<string, string>,
): uPlot.Series {
  const stroke = colours.get(colourName(colour)) ?? "gray";
  return {
    label,
    stroke,
    width: isCompared ? 1.25 : 1.6,
    ...(isCompared ? { dash: [5, 4], spanGaps: true } : {}),
    ...(colour === 0 && !isCompared && !id.includes("core")
      ? { fill: stroke.replace(/^rgb\((.*)\)$/, "rgba($1, 0.1)") }
      : {}),
    points: { size: 5 },
  };
}

function axisOf(colours: ReadonlyMap<string, string>): uPlot.Axis {
  const line = { stroke: colours.get("--line") ?? "gray", width: 1 };
  return {
    stroke: colours.get("--muted") ?? "gray",
    font: FONT,
    grid: line,
    ticks: { show: false },
    border: { show: false },
  };
}

function stepsOf({
  isBinary,
  isWhole,
}: PlotSettings): Pick<uPlot.Axis, "incrs"> {
  if (isBinary) return { incrs: binarySteps };
  return isWhole ? { incrs: wholeSteps } : {};
}
