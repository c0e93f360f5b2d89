import { colourName } from "./chart-line.js";
import { toCsv } from "./csv.js";
import { drawCharts } from "./draw-charts.js";
import { saveFile } from "./save-file.js";
import type { StatChart } from "./use-stat-charts.js";

/** @param file name without extension */
export function saveCsv(
  file: string,
  times: readonly number[],
  charts: readonly StatChart[],
): void {
  const columns = charts.flatMap(({ heading, lines }) =>
    lines.map(({ label, points }) => ({
      name: `${heading}: ${label}`,
      points,
    })),
  );
  const csv = toCsv(times, columns);
  saveFile(`${file}.csv`, new Blob([csv], { type: "text/csv" }));
}

/**
 * Saves all charts as one picture.
 * @param file name without extension
 * @param canvasAt the canvas of the chart at an index, once it is drawn
 * @param colours values of CSS custom properties by their names
 */
export async function savePng(
  file: string,
  heading: string,
  charts: readonly StatChart[],
  {
    canvasAt,
    colours,
  }: {
    readonly canvasAt: (index: number) => HTMLCanvasElement | undefined;
    readonly colours: ReadonlyMap<string, string>;
  },
): Promise<void> {
  const pictures = charts.flatMap(({ heading, lines }, i) => {
    const canvas = canvasAt(i);
    if (canvas === undefined) return [];
    const legend = lines.map(({ label, colour }) => ({
      label,
      colour: colours.get(colourName(colour)) ?? "gray",
    }));
    return [{ heading, canvas, legend }];
  });
  if (pictures.length === 0) return;
  const png = await drawCharts(pictures, {
    heading,
    background: colours.get("--surface") ?? "white",
    text: colours.get("--text") ?? "black",
  });
  saveFile(`${file}.png`, png);
}
