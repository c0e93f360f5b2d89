import type { Points } from "./stats-answer.js";

/** Point by point; null where all are null. */
export function sum(all: readonly Points[]): Points {
  return fold(all, (total) => total);
}

/** Average of the points that are not null. */
export function mean(all: readonly Points[]): Points {
  return fold(all, (total, count) => total / count);
}

/** Point by point; null where one is null. */
export function difference(from: Points, less: Points): Points {
  return from.map((value, i) => {
    const other = less[i] ?? null;
    return value === null || other === null ? null : value - other;
  });
}

/** The points of one series at the nearest times of another; null between. */
export function onGrid(
  points: Points,
  from: { readonly end: number; readonly step: number },
  grid: {
    readonly end: number;
    readonly step: number;
    readonly length: number;
  },
): Points {
  const placed = new Array<number | null>(grid.length).fill(null);
  for (const [i, value] of points.entries()) {
    const time = from.end - (points.length - 1 - i) * from.step;
    const cell = grid.length - 1 - Math.round((grid.end - time) / grid.step);
    if (value !== null && cell >= 0 && cell < grid.length) placed[cell] = value;
  }
  return placed;
}

function fold(
  all: readonly Points[],
  settle: (total: number, count: number) => number,
): Points {
  const length = Math.max(0, ...all.map((points) => points.length));
  return Array.from({ length }, (_, i) => {
    let total = 0;
    let count = 0;
    for (const points of all) {
      const value = points[i] ?? null;
      if (value === null) continue;
      total += value;
      count++;
    }
    return count === 0 ? null : settle(total, count);
  });
}
