interface Point {
  readonly x: number;
  readonly y: number;
}

const WIDTH = 720;
const HEIGHT = 220;
const MARGIN = { left: 56, right: 12, top: 28, bottom: 28 };
const TICKS = 4;

/** An SVG image of values over minutes, from 0 to a little above the largest value. */
export function lineChart(title: string, points: readonly Point[]): string {
  const lastX = Math.max(1e-9, ...points.map(({ x }) => x));
  const top = 1.1 * Math.max(1e-9, ...points.map(({ y }) => y));
  const width = WIDTH - MARGIN.left - MARGIN.right;
  const height = HEIGHT - MARGIN.top - MARGIN.bottom;
  const toX = (x: number) => (MARGIN.left + (x / lastX) * width).toFixed(1);
  const toY = (y: number) => (MARGIN.top + (1 - y / top) * height).toFixed(1);
  const line = points.map(({ x, y }) => `${toX(x)},${toY(y)}`).join(" ");
  const steps = Array.from({ length: TICKS + 1 }, (_, i) => i / TICKS);
  const label = (value: number) =>
    value >= 10 ? value.toFixed(0) : value.toFixed(1);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="11">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    `<text x="${MARGIN.left}" y="16" font-size="13">${title}</text>`,
    ...steps.map(
      (step) =>
        `<line x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${toY(step * top)}" y2="${toY(step * top)}" stroke="#ddd"/>`,
    ),
    ...steps.map(
      (step) =>
        `<text x="${MARGIN.left - 6}" y="${toY(step * top)}" dy="4" text-anchor="end">${label(step * top)}</text>`,
    ),
    ...steps.map(
      (step) =>
        `<text x="${toX(step * lastX)}" y="${HEIGHT - 8}" text-anchor="middle">${label(step * lastX)} min</text>`,
    ),
    `<polyline points="${line}" fill="none" stroke="#1a6fb5" stroke-width="1.5"/>`,
    "</svg>\n",
  ].join("\n");
}
