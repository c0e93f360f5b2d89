/** A chart as drawn on the screen. */
interface ChartImage {
  readonly heading: string;
  readonly canvas: HTMLCanvasElement;
  readonly legend: readonly {
    readonly label: string;
    readonly colour: string;
  }[];
}

interface ChartStyle {
  readonly heading: string;
  readonly background: string;
  readonly text: string;
}

const GAP = 24;
const TITLE = 48;
const LINE = 22;
const FONT = 'Inter, system-ui, "Segoe UI", Roboto, sans-serif';

/** Draws all charts of a panel below each other into one PNG. */
export async function drawCharts(
  charts: readonly ChartImage[],
  { heading, background, text }: ChartStyle,
): Promise<Blob> {
  const width = Math.max(...charts.map(({ canvas }) => canvas.width));
  const heights = charts.map(({ canvas }) => canvas.height + 2 * LINE + GAP);
  const image = document.createElement("canvas");
  image.width = width + 2 * GAP;
  image.height = TITLE + GAP + heights.reduce((sum, one) => sum + one, 0);
  const context = image.getContext("2d")!;
  context.fillStyle = background;
  context.fillRect(0, 0, image.width, image.height);
  context.fillStyle = text;
  context.font = `600 20px ${FONT}`;
  context.fillText(heading, GAP, TITLE - 12);
  let top = TITLE;
  for (const [i, { heading, canvas, legend }] of charts.entries()) {
    context.fillStyle = text;
    context.font = `600 15px ${FONT}`;
    context.fillText(heading, GAP, top + LINE - 6);
    context.font = `13px ${FONT}`;
    let left = GAP;
    for (const { label, colour } of legend) {
      context.fillStyle = colour;
      context.fillRect(left, top + LINE + 8, 14, 4);
      context.fillStyle = text;
      context.fillText(label, left + 20, top + LINE + 15);
      left += 20 + context.measureText(label).width + GAP;
    }
    context.drawImage(canvas, GAP, top + 2 * LINE);
    top += heights[i]!;
  }
  return new Promise((resolve, reject) => {
    image.toBlob((blob) => {
      if (blob === null) reject(new Error("the image could not be created"));
      else resolve(blob);
    }, "image/png");
  });
}
